package import Foundation

/// The files of this package, for tests that compare them with the program.
package enum Repository {
    /// Returns the place of a file or folder, by its path in the package.
    package static func url(_ path: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: path)
    }

    package static func text(_ path: String) throws -> String {
        try String(contentsOfFile: url(path).path, encoding: .utf8)
    }
}
