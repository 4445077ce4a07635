import FerryCore
import FerryTerminal
import Testing

@testable import FerryAria2

@Suite("Secrets among the arguments of aria2c") struct Aria2SecretsTests {
    private static func blanked(_ arguments: [String], program: String = "ferry") -> [String] {
        let bytes = arguments.map { Array($0.utf8) }
        let found = ArgumentSecrets.ranges(in: bytes, program: program, emulating: [.aria2c])
        return zip(bytes, found).map { argument, ranges in
            var argument = argument
            for range in ranges { for index in range { argument[index] = UInt8(ascii: "*") } }
            return String(decoding: argument, as: UTF8.self)
        }
    }

    /// By the reader of aria2c's command lines: a beginning that it takes for an option, and its value in either place.
    @Test(
        "ArgumentSecrets: each secret option of aria2c is overwritten under each beginning of its name that aria2c takes"
    )
    func beginnings() throws {
        var count = 0
        for name in Aria2Option.all.map(\.name) where Aria2Option.secrecy(of: name) != nil {
            let (given, shown) =
                name.utf8.hasSuffix("-proxy") ? ("http://u:sesame@p", "http://********@p") : ("sesame", "******")
            for length in 1...name.utf8.count {
                let beginning = String(decoding: name.utf8.prefix(length), as: UTF8.self)
                guard (try? Aria2Option.beginning(with: beginning))?.name == name else { continue }
                count += 1
                for words in [["--\(beginning)", given], ["--\(beginning)=\(given)"]] {
                    let expected = words.map { $0.replacing(given, by: shown) } + ["http://h/"]
                    #expect(Self.blanked(["aria2c"] + words + ["http://h/"]) == ["aria2c"] + expected)
                    #expect(Self.blanked(["-cR"] + words + ["http://h/"], program: "/b/aria2c") == ["-cR"] + expected)
                }
            }
        }
        #expect(count > 60)
    }

    @Test(
        "ArgumentSecrets: every option of aria2c that takes a password, a user, a secret, a header or a proxy is secret"
    )
    func names() {
        let words = ["passwd", "password", "user", "secret", "header", "proxy", "token", "key"]
        let open: Set = [
            "no-proxy", "proxy-method", "user-agent", "private-key", "rpc-private-key", "ssh-host-key-md",
            "http-accept-gzip", "http-auth-challenge", "rpc-save-upload-metadata",
            "no-want-digest-header",
        ]
        for name in Aria2Option.all.map(\.name) where !open.contains(name) {
            let isNamed = name.split(at: "-").contains { words.contains(String($0)) }
            #expect((Aria2Option.secrecy(of: name) != nil) == isNamed, "\(name)")
        }
    }

    @Test("ArgumentSecrets: an option of aria2c is secret in every command, and no other word is")
    func otherCommands() {
        #expect(Self.blanked(["get", "--rpc-secret", "s", "u"]) == ["get", "--rpc-secret", "*", "u"])
        #expect(Self.blanked(["get", "--all-proxy=u:p/w@h:1"]) == ["get", "--all-proxy=*****@h:1"])
        // wget's option takes no value.
        let words = ["wget", "--no-proxy", "--header", "A: b", "http://h/f"]
        #expect(Self.blanked(words) == ["wget", "--no-proxy", "--header", "****", "http://h/f"])
        #expect(Self.blanked(["add", "--gateway-user", "a"]) == ["add", "--gateway-user", "a"])
    }
}
