import Ferry
import FerryAPI
import FerryTerminal
import Testing

@Suite("DownloadPicker") struct DownloadPickerTests {
    private let all: [ListedDownload] = [
        .sample("abc1", name: "one.iso"), .sample("abc2", name: "two.iso"), .sample("abc", name: "three.iso"),
        .sample("def1", name: "two.iso"), .sample("ghi", name: "abc1"), .sample("jkl", name: "abc"),
        .sample("mno", name: "gh"),
    ]

    @Test(
        "DownloadPicker: an identifier, a unique prefix, a name and all select their downloads",
        arguments: [
            (["abc"], ["abc"]), (["abc2"], ["abc2"]), (["d"], ["def1"]), (["one.iso"], ["abc1"]),
            (["def1", "abc2", "de"], ["def1", "abc2"]), (["abc1"], ["abc1"]), (["gh"], ["mno"]),
            (["all"], ["abc1", "abc2", "abc", "def1", "ghi", "jkl", "mno"]),
        ])
    func picked(words: [String], ids: [String]) throws {
        #expect(try DownloadPicker.pick(words, from: all).map(\.id.rawValue) == ids)
    }

    @Test(
        "DownloadPicker: an ambiguous or empty word is refused with the downloads it matches",
        arguments: [
            (
                "ab",
                "ab means 3 downloads: abc1 (one.iso), abc2 (two.iso), abc (three.iso); give more of the identifier"
            ),
            ("two.iso", "two.iso means 2 downloads: abc2 (two.iso), def1 (two.iso); give more of the identifier"),
            ("", "an empty text names no download"),
        ])
    func refused(word: String, message: String) {
        #expect(throws: UsageError(message)) { try DownloadPicker.pick([word], from: all) }
    }

    @Test("DownloadPicker: a word without a match is not found, which is no usage error")
    func notFound() {
        let message = "no download is called nobody, and no identifier begins so; ferry list shows them"
        #expect(throws: UsageError(message, code: .notFound)) { try DownloadPicker.pick(["nobody"], from: all) }
        #expect(UsageError(message).code == .invalidRequest)
    }

    @Test("ShortIdentifiers: identifiers are cut to the length that distinguishes them")
    func short() {
        #expect(ShortIdentifiers(["0123456789", "9876543210"]).short("0123456789") == "012345")
        #expect(ShortIdentifiers(["0123456789", "0123456799", "5"]).length == 9)
        #expect(ShortIdentifiers(["ab", "ab"]).short("ab") == "ab")
        #expect(ShortIdentifiers([]).short("ab") == "ab")
        #expect(ShortIdentifiers.whole.short("0123456789abcdef") == "0123456789abcdef")
    }

    @Test("ListOptions: a filter or limit makes the list partial, so that identifiers are shown whole")
    func partial() {
        let changes: [(inout RemoteRun.ListOptions) -> Void] = [
            { $0.states = "paused" }, { $0.search = "iso" }, { $0.limit = 2 },
        ]
        for change in changes {
            var options = RemoteRun.ListOptions()
            #expect(!options.isPartial)
            change(&options)
            #expect(options.isPartial)
        }
    }
}
