import FerryTerminal
import Testing

@Suite("ListOptions and ShortIdentifiers") struct ListOptionsTests {
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
