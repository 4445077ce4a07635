import FerryAPI
import FerryCore
import Foundation
import Testing

@testable import FerryTerminal

@Suite("Lines of ferry sets") struct FileSetTextTests {
    private func line(_ state: FileSet.State, _ change: (inout FileSet) -> Void = { _ in }) -> String {
        let new = NewSet(url: "http://h/", directory: "/d")
        var set = FileSet(
            id: "0123456789abcdef", state: state, new, root: nil, addedAt: Date(timeIntervalSince1970: 0))
        change(&set)
        return FileSetText.line(set, ShortIdentifiers([set.id]))
    }

    @Test("FileSetText: a set whose list cannot be read says why, and when it is read again")
    func retry() {
        let until = Date(timeIntervalSince1970: 1_738_314_300)
        let text = line(.syncing) { set in
            set.error = DownloadError(.network, ErrorPhrase(.setAnswered, "http://h/", "503"))
            set.until = until
            // Of an earlier run.
            (set.files, set.done) = (3, 3)
        }
        #expect(
            text == "012345  syncing: http://h/: the server answered 503; next attempt at \(LocalTime.text(until))  /d")
    }

    @Test("FileSetText: a complete set says how many files it has, also if it is one")
    func complete() {
        #expect(line(.complete) { $0.files = 1 } == "012345  complete, 1 file  /d")
        #expect(line(.complete) { $0.files = 2 } == "012345  complete, 2 files  /d")
    }

    @Test("FileSetText: a set that is added again with other options is synced with these")
    func addedAgain() {
        let new = NewSet(url: "http://h/", directory: "/d")
        let listed = FileSet(id: "0123456789abcdef", state: .syncing, new, root: nil, addedAt: Date())
        var set = listed
        #expect(FileSetText.listedAlready(listed, as: set) == "ferry: already listed, and being synced: /d")
        set.set.exclude = ["f1"]
        #expect(
            FileSetText.listedAlready(listed, as: set)
                == "ferry: already listed, and synced again with the options of this command: /d")
    }

    @Test("FileSetText: without a wait for its list, a set shows its files and the reason of a failure")
    func others() {
        let syncing = line(.syncing) { $0.files = 2 }
        #expect(syncing == "012345  syncing, 0 of 2 files, 0 B received, 0 B/s  /d")
        let failed = line(.failed) {
            $0.error = DownloadError(.refused, ErrorPhrase(.setAnswered, "http://h/", "404"))
        }
        #expect(failed == "012345  failed: http://h/: the server answered 404  /d")
    }
}
