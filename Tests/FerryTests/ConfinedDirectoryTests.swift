import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryCore

@Suite("Directories that others name") struct ConfinedDirectoryTests {
    private func code(_ path: String, within root: String?) async -> DownloadError.Code? {
        do throws(DownloadError) { try await ConfinedDirectory.prepare(path, within: root) } catch { return error.code }
        return nil
    }

    @Test("ConfinedDirectory: is created below the root, and not through a symbolic link there")
    func links() async throws {
        try await Workshop.run { shop in try await links(shop.path("root"), shop.path("outside")) }
    }

    private func links(_ root: String, _ outside: String) async throws {
        let files = FileManager.default
        try files.createDirectory(atPath: outside, withIntermediateDirectories: true)
        #expect(await code(root + "/a/b", within: root) == nil)
        #expect(files.fileExists(atPath: root + "/a/b"))
        try files.createSymbolicLink(atPath: root + "/link", withDestinationPath: outside)
        for path in ["/link", "/link/b", "/link/b/c", "/a/../link/b"] {
            #expect(await code(root + path, within: root) == .disk, "\(path)")
        }
        #expect(await code(outside + "/b", within: root) == .disk)
        #expect(try files.contentsOfDirectory(atPath: outside).isEmpty)
        // What the user has chosen may be a link.
        #expect(await code(root + "/link/b", within: root + "/link") == nil)
        #expect(await code(root + "/link/c", within: nil) == nil)
        #expect(Set(try files.contentsOfDirectory(atPath: outside)) == ["b", "c"])
    }
}
