import Foundation
import SystemPackage

@testable import FerryEngine

/// A directory for one test, deleted with its last reference.
final class TemporaryDirectory: Sendable {
    let path: FilePath

    init() throws {
        let name = "ferry-test-\(UUID().uuidString)"
        path = FilePath(FileManager.default.temporaryDirectory.path).appending(name)
        try LocalFileSystem().makeDirectory(path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path.string) }

    func file(_ name: String) -> FilePath { path.appending(name) }

    /// Writes a file through Foundation.
    @discardableResult
    func put(_ name: String, _ bytes: [UInt8] = []) throws -> FilePath {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name).string))
        return file(name)
    }

    func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: file(name).string).map(Array.init)
    }

    var names: [String] {
        get throws { try LocalFileSystem().list(path).sorted() }
    }
}
