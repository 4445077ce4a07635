import Foundation

/// The output of an app that the daemon has started, through a named pipe.
final class LaunchReport: Sendable {
    let path: String

    init(_ path: String) throws {
        self.path = path
        guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        // Ends the wait for an app that is never started.
        DispatchQueue.global().asyncAfter(deadline: .now() + 100) {
            let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { close(descriptor) }
        }
    }

    /// All lines of the app, once it has exited.
    func lines() async -> [AppProcess.Line] {
        let path = path
        let data = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = FileHandle(forReadingAtPath: path).flatMap { try? $0.readToEnd() } ?? Data()
                continuation.resume(returning: data)
            }
        }
        return data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(AppProcess.Line.self, from: Data($0))
        }
    }
}
