import FerryCore
@testable import FerryTerminal
import Testing

@Suite("Secrets among the arguments") struct ArgumentSecretsTests {
    private static func blanked(_ arguments: [String]) -> [String] {
        let bytes = arguments.map { Array($0.utf8) }
        return zip(bytes, ArgumentSecrets.ranges(in: bytes)).map { argument, ranges in
            var argument = argument
            for range in ranges { for index in range { argument[index] = UInt8(ascii: "*") } }
            return String(decoding: argument, as: UTF8.self)
        }
    }

    @Test(
        "ArgumentSecrets: passwords, headers and user info are overwritten, and nothing else",
        arguments: [
            (["get", "http://h/f"], ["get", "http://h/f"]),
            (["get", "http://u:p@h/f@2"], ["get", "http://***@h/f@2"]),
            (["get", "http://u:p@q@h/f"], ["get", "http://*****@h/f"]),
            (["get", "http://h/f?a=b@c"], ["get", "http://h/f?a=b@c"]),
            (["--user", "me:pw", "x"], ["--user", "*****", "x"]),
            (["--user=me:pw"], ["--user=*****"]),
            (["--header", "A: b"], ["--header", "****"]),
            (["--header=A: b"], ["--header=****"]),
            (["--header", "@file"], ["--header", "@file"]),
            (["--proxy", "u:p/w@h:1"], ["--proxy", "*****@h:1"]),
            (["--proxy=http://u:p@h:1"], ["--proxy=http://***@h:1"]),
            (["--proxy", "h:1"], ["--proxy", "h:1"]),
            (["--mirror", "https://u:p@h/"], ["--mirror", "https://***@h/"]),
            (["--checksum", "@https://u:p@h/S"], ["--checksum", "@https://***@h/S"]),
            (["set", "a", "url=http://u:p@h/f"], ["set", "a", "url=http://***@h/f"]),
            (["set", "proxy=u:p/w@h:1"], ["set", "proxy=*****@h:1"]),
            (["set", "a", "proxy=http://u:p@h:1"], ["set", "a", "proxy=http://***@h:1"]),
            (["-H", "A: b", "-u", "me:pw", "-b", "a=b"], ["-H", "****", "-u", "*****", "-b", "***"]),
            (["-H", "@file", "--cookie=a=b"], ["-H", "@file", "--cookie=***"]),
            (["serve", "--door-secret", "a", "--port", "1"], ["serve", "--door-secret", "*", "--port", "1"]),
            (["serve", "--door-secret=@file"], ["serve", "--door-secret=@file"]),
            (["--user"], ["--user"]),
            (["a@b", "-o", "c@d"], ["a@b", "-o", "c@d"]),
            (["get", "u:p@h/f"], ["get", "***@h/f"]), (["get", "token@h/f"], ["get", "*****@h/f"]),
            (["get", "u:p@h/f?v=http://w:q@h"], ["get", "***@h/f?v=http://***@h"]),
            (["get", "h/f@2"], ["get", "h/f@2"]),
            (["work", "Postgres://u:p/w@h/d"], ["work", "Postgres://*****@h/d"]),
            (["--mirror=u:p@h/f"], ["--mirror=***@h/f"]), (["--checksum", "@u:p@h/S"], ["--checksum", "@***@h/S"]),
            (["set", "a", "url=u:p@h/f"], ["set", "a", "url=***@h/f"]), (["get", "-oc@d/x"], ["get", "-oc@d/x"]),
        ])
    func blanks(arguments: [String], expected: [String]) {
        #expect(Self.blanked(arguments) == expected)
    }

    @Test(
        "ArgumentSecrets: options of curl count with other letters in their word, and up to one that takes the rest",
        arguments: [
            (["curl", "-sH", "A: b"], ["curl", "-sH", "****"]), (["curl", "-sSLu", "a:b"], ["curl", "-sSLu", "***"]),
            (["curl", "-sHA: b"], ["curl", "-sH****"]), (["curl", "-ume:pw", "u"], ["curl", "-u*****", "u"]),
            (["curl", "-H@file"], ["curl", "-H@file"]), (["curl", "-oH", "x"], ["curl", "-oH", "x"]),
            (["curl", "-OH", "A: b"], ["curl", "-OH", "****"]), (["get", "-qb", "a=b"], ["get", "-qb", "***"]),
            (["wget", "-OH", "x"], ["wget", "-OH", "x"]),
            (["wget", "--http-password=p"], ["wget", "--http-password=*"]),
            (["curl", "-x", "u:p@h"], ["curl", "-x", "***@h"]), (["curl", "-sxu:p/w@h"], ["curl", "-sx*****@h"]),
            (["curl", "-x", "token@h"], ["curl", "-x", "*****@h"]),
            (["wget", "-U", "agent"], ["wget", "-U", "agent"]),
        ])
    func letters(arguments: [String], expected: [String]) {
        #expect(Self.blanked(arguments) == expected)
    }

    @Test(
        "ArgumentSecrets: each letter of curl and wget that takes a value hides what the option hides that it stands for",
        arguments: ["curl", "wget"])
    func pastedLetters(program: String) throws {
        let letters = PastedCommand.valueLetters(of: program)
        #expect(!letters.isEmpty)
        for letter in letters {
            let option = try #require(PastedCommand.valueOption(of: letter, in: program))
            for value in ["token@h", "u:p/w@h:1"] {
                let shown = Self.blanked(["get", option, value])[2]
                #expect(Self.blanked([program, "-" + letter, value, "u"]) == [program, "-" + letter, shown, "u"])
                #expect(Self.blanked([program, "-" + letter + value, "u"])[1] == "-" + letter + shown)
            }
        }
    }
}
