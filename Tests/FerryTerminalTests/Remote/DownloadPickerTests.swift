import Ferry
import FerryAPI
import FerryTerminal
import Testing

@Suite("Which downloads are meant") struct DownloadPickerTests {
    private let all: [ListedDownload] = [
        .sample("abc1", name: "one.iso"), .sample("abc2", name: "two.iso"), .sample("abc", name: "three.iso"),
        .sample("def1", name: "two.iso"), .sample("ghi", name: "abc1"), .sample("jkl", name: "abc"),
        .sample("mno", name: "gh"),
    ]

    @Test(
        "an identifier, the beginning of just one, a name, or all",
        arguments: [
            (["abc"], ["abc"]), (["abc2"], ["abc2"]), (["d"], ["def1"]), (["one.iso"], ["abc1"]),
            (["def1", "abc2", "de"], ["def1", "abc2"]), (["abc1"], ["abc1"]), (["gh"], ["mno"]),
            (["all"], ["abc1", "abc2", "abc", "def1", "ghi", "jkl", "mno"]),
        ])
    func picked(words: [String], ids: [String]) throws {
        #expect(try DownloadPicker.pick(words, from: all).map(\.id.rawValue) == ids)
    }

    @Test(
        "one that means none or several is refused, and says which",
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

    @Test("one that means none is not found: that is another failure than words that make no sense")
    func notFound() {
        let message = "no download is called nobody, and no identifier begins so; ferry list shows them"
        #expect(throws: UsageError(message, code: .notFound)) { try DownloadPicker.pick(["nobody"], from: all) }
        #expect(UsageError(message).code == .invalidRequest)
    }

    @Test("identifiers are shown as short as tells them apart")
    func short() {
        #expect(ShortIdentifiers(["0123456789", "9876543210"]).short("0123456789") == "012345")
        #expect(ShortIdentifiers(["0123456789", "0123456799", "5"]).length == 9)
        #expect(ShortIdentifiers(["ab", "ab"]).short("ab") == "ab")
        #expect(ShortIdentifiers([]).short("ab") == "ab")
        #expect(ShortIdentifiers.whole.short("0123456789abcdef") == "0123456789abcdef")
    }

    @Test("of a part of the list identifiers are shown whole: another one may begin so")
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
