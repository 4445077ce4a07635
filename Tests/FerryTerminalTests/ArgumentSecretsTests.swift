import FerryTerminal
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
            (["--user"], ["--user"]),
            (["a@b", "-o", "c@d"], ["a@b", "-o", "c@d"]),
        ])
    func blanks(arguments: [String], expected: [String]) {
        #expect(Self.blanked(arguments) == expected)
    }
}
