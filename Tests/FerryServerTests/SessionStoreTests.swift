import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("SessionStore")
struct SessionStoreTests {
    @Test("SessionStore: an unreadable file is kept under another name when the next change writes a new one")
    func unreadable() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "ferry-sessions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "sessions.json").path
        try PrivateFile.write("{\"app\": {\"launchCommand\": [\"/bin/tr", to: path)
        let store = SessionStore(path)
        #expect(store.entry("app") == nil)
        try store.note(["/srv"], of: "other")
        #expect(try String(contentsOfFile: path + ".unreadable", encoding: .utf8).hasSuffix("/bin/tr"))
        #expect(SessionStore(path).entry("other") != nil)
    }
}
