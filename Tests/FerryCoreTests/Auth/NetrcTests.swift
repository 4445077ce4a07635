import FerryCore
import Testing

@Suite("Netrc files")
struct NetrcTests {
    @Test("Netrc: credentials are found by machine name and user, else in the default entry") func lookup() throws {
        let netrc = try Netrc(
            """
            \u{FEFF}# a comment
            machine Example.com login me password #hash account x
            machine two.example
                login "a user"
                password "p\\"w\\\\d\\t" # comment
            macdef init
            machine macro.example login no

            machine two.example login other password second
            default login anonymous password guest
            """)
        #expect(netrc.credentials(for: "example.COM") == Credentials(user: "me", password: "#hash"))
        #expect(netrc.credentials(for: "two.example") == Credentials(user: "a user", password: "p\"w\\d\t"))
        #expect(netrc.credentials(for: "two.example", user: "other") == Credentials(user: "other", password: "second"))
        #expect(netrc.credentials(for: "macro.example") == Credentials(user: "anonymous", password: "guest"))
        #expect(netrc.credentials(for: "sub.example.com")?.user == "anonymous")
        #expect(netrc.credentials(for: "macro.example", user: "x") == nil)
    }

    @Test("Netrc: without a matching entry there are no credentials") func none() throws {
        #expect(try Netrc("").credentials(for: "h") == nil)
        #expect(try Netrc("machine h").credentials(for: "h") == nil)
        #expect(try Netrc("machine a login b password c").credentials(for: "h") == nil)
        #expect(try Netrc("machine h password only").credentials(for: "h") == Credentials(user: "", password: "only"))
        #expect(try Netrc("machine h login only").credentials(for: "h") == Credentials(user: "only", password: ""))
        #expect(try Netrc("default").credentials(for: "h") == nil)
        #expect(try Netrc("macdef x\nmachine h login u").credentials(for: "h") == nil)
    }

    @Test(
        "Netrc: a syntax error is reported with its line and without the words of the file",
        arguments: [
            ("machine", 1), ("machine h\nlogin", 2), ("\n\nhunter2", 3), ("login u", 1), ("account hunter2", 1),
            ("machine h\r\nlogin u\r\npassword \"hunter2\r\n", 3), ("machine h login u password hunter2 hunter2", 1),
            ("# c\nmacdef m\nx\n\nhunter2", 5),
        ])
    func mistakes(_ text: String, _ line: Int) {
        let error = #expect(throws: TextError.self) { try Netrc(text) }
        #expect(error?.line == line)
        #expect(error?.message.contains("hunter2") == false)
    }

    @Test("Netrc: descriptions and dumps show no passwords") func secrecy() throws {
        let netrc = try Netrc("machine h login u password hunter2")
        #expect(!"\(netrc)".contains("hunter2") && !String(reflecting: netrc).contains("hunter2"))
        var dumped = ""
        dump(netrc, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test("Netrc: random text is parsed or refused, and never traps", arguments: [71, 72, 73] as [UInt64])
    func anyText(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = [
            "machine ", "default ", "login ", "password ", "macdef ", "account ", "\"", "\\", "#", "\n", "\n\n", "h",
        ]
        for _ in 0..<3000 { _ = try? Netrc(random.text(of: pieces)).credentials(for: "h") }
    }
}
