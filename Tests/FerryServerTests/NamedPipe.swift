import Foundation
import Testing

/// A named pipe for the output of another process: a reader waits for that output, not for a time.
struct NamedPipe: Sendable {
    let path: String

    init(_ path: String) {
        self.path = path
        #expect(mkfifo(path, 0o600) == 0)
    }

    /// The text of the first writer, to its end.
    func text() async throws -> String {
        let path = path
        let data: Data = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result { try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd() ?? Data() })
            }
        }
        return String(decoding: data, as: UTF8.self)
    }
}
