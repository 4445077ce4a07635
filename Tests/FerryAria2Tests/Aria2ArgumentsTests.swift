import FerryCore
import FerryTerminal
import Testing

@testable import FerryAria2

@Suite("Arguments of aria2c") struct Aria2ArgumentsTests {
    private func failure(_ arguments: [String]) -> Aria2Failure? {
        do throws(Aria2Failure) {
            _ = try Aria2Arguments(arguments)
            return nil
        } catch { return error }
    }

    @Test("Aria2Arguments: long, short, joined and abbreviated options are read, and words between them")
    func read() throws {
        let arguments = try Aria2Arguments([
            "-x16", "-s", "8", "--dir=/d", "http://a/", "--out", "f", "-cR", "--header", "A: 1", "--header=B: 2",
            "--allow-over", "--check-certificate=false", "-qfalse", "--", "-Z", "http://b/",
        ])
        #expect(arguments.words == ["http://a/", "-Z", "http://b/"])
        let values = arguments.values
        #expect(values["max-connection-per-server"] == "16" && values["split"] == "8")
        #expect(values["dir"] == "/d" && values["out"] == "f" && values.headers == ["A: 1", "B: 2"])
        for name in ["continue", "remote-time", "allow-overwrite"] { #expect(values.flag(name), "\(name)") }
        #expect(!values.flag("check-certificate", default: true) && !values.flag("quiet", default: true))
        #expect(try Aria2Arguments(["-"]).words == ["-"])
    }

    @Test(
        "Aria2Arguments: what aria2 does not have, and what would do something else, is status 28",
        arguments: [
            (["--no-such"], "unrecognized option '--no-such'"), (["-y"], "invalid option -- 'y'"),
            (["--max-d"], "it may be --max-download-limit, --max-download-result"), (["-x"], "requires an argument"),
            (["--continue=maybe"], "must be true or false"), (["--dry-run"], "cannot follow --dry-run"),
            (["-T", "x.torrent"], "cannot follow --torrent-file"),
        ])
    func refused(arguments: [String], message: String) throws {
        let failure = try #require(self.failure(arguments))
        #expect(failure.status == .option && failure.message.contains(message), "\(failure.message)")
    }

    @Test("Aria2Values: options without effect are named once, and those that ask for what is done anyway are not")
    func ignored() throws {
        let values = try Aria2Arguments([
            "--interface=eth0", "--interface=eth1", "--save-cookies", "f", "--file-allocation=none", "--dry-run=false",
            "--optimize-concurrent-downloads=5:25", "--pause=false",
        ]).values
        #expect(values.ignored == ["interface", "save-cookies"])
    }

    @Test(
        "Aria2Values: sizes have units of 1024, and 0 is no limit",
        arguments: [("0", nil), ("5", 5), ("2K", 2048), ("3m", 3 << 20)] as [(String, Int64?)])
    func sizes(text: String, size: Int64?) throws {
        #expect(try Aria2Arguments(["--max-download-limit", text]).values.size("max-download-limit") == size)
    }

    @Test("Aria2Values: a size or number that is none, or out of bounds, is refused", arguments: ["", "K", "-1", "1G"])
    func unusable(text: String) throws {
        let values = try Aria2Arguments(["--max-download-limit", text, "-x", text]).values
        #expect(throws: Aria2Failure.self) { try values.size("max-download-limit") }
        #expect(throws: Aria2Failure.self) { try values.number("max-connection-per-server") }
    }

    @Test("Aria2Files: a list has URIs with tabs between them and options below, of which none runs a program")
    func list() throws {
        let (entries, unknown) = try Aria2Files.entries(
            """
            # a comment
              dir=/lost
            http://a/f\thttp://b/f
              out= my file
            \theader=A: 1
            # between
              header=B: 2
              on-download-complete=/bin/rm
              bogus=1
              piece-length=1M

            http://c/g\r
              checksum=md5=0
            """)
        #expect(entries.map(\.words) == [["http://a/f", "http://b/f"], ["http://c/g"]])
        #expect(entries[0].values["out"] == "my file" && entries[0].values.headers == ["A: 1", "B: 2"])
        #expect(entries[1].values["checksum"] == "md5=0")
        #expect(unknown == ["on-download-complete=/bin/rm", "bogus=1"])
    }

    @Test("Aria2Files: settings are read line by line, without unknown ones")
    func settings() throws {
        let values = try Aria2Files.settings("# dir=/no\ndir=/d\nbogus=1\n\nsplit = 3\n")
        #expect(values["dir"] == "/d" && values["split"] == "3")
        #expect(throws: Aria2Failure.self) { try Aria2Files.settings("continue=maybe") }
    }

    @Test(
        "Aria2Pattern: lists, numbers with leading zeros, steps and letters",
        arguments: [
            ("http://{a,b}/f", ["http://a/f", "http://b/f"]), ("h/[08-10]", ["h/08", "h/09", "h/10"]),
            ("h/[0-6:3].[x-y]", ["h/0.x", "h/0.y", "h/3.x", "h/3.y", "h/6.x", "h/6.y"]), ("h/f", ["h/f"]),
        ])
    func patterns(uri: String, expanded: [String]) throws { #expect(try Aria2Pattern.expand(uri) == expanded) }

    @Test(
        "Aria2Pattern: what is open, empty, backwards or too much is refused",
        arguments: [
            "h/{a", "h/[1-3", "h/[3-1]", "h/[1-3:0]", "h/[a-Z]", "h/[-]", "h/{}", "h/[0-99999]", "h/[0-999][0-999]",
        ])
    func unusablePatterns(uri: String) { #expect(throws: Aria2Failure.self) { try Aria2Pattern.expand(uri) } }
}
