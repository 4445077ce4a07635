import FerryAPI
import FerryBrowser
import FerryCore
import Foundation
import Testing

@Suite("The browser's extension") struct ExtensionTests {
    @Test("The extension's manifest and messages are of the identifiers and the version that the host knows")
    func extensionManifest() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Extension")
        let manifest = try JSONValue(try Data(contentsOf: folder.appending(path: "manifest.json")))
        #expect(
            manifest["browser_specific_settings"]?["gecko"]?["id"] == .text(HostManifest.firefoxExtension))
        let host = try String(contentsOf: folder.appending(path: "host.js"), encoding: .utf8)
        #expect(host.contains("const HOST = '\(HostManifest.name)';"))
        #expect(host.contains("const VERSION = \(BrowserMessage.version);"))
    }
}
