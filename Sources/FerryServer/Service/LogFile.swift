import CFerry
import FerryCore
package import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The log of a daemon without standard error: `daemon.log` in its state directory, with mode 0600.
///
/// At 1 MiB the file is renamed to `daemon.log.1`, replacing an earlier one. Write errors are ignored.
package final class LogFile: Sendable {
    private struct State {
        var descriptor: Int32 = -1
        var size = 0
    }
    private let path: String
    private let mostBytes: Int
    private let state = Mutex(State())

    /// Creates no file before the first line.
    package init(_ path: String, mostBytes: Int = 1 << 20) {
        (self.path, self.mostBytes) = (path, mostBytes)
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// Whether standard error is `/dev/null`, as in a daemon that a command or an app has started.
    package static var isNeeded: Bool {
        var own = stat()
        return fstat(2, &own) == 0 && isNull(own)
    }

    /// Whether a file is `/dev/null`.
    static func isNull(_ file: stat) -> Bool {
        var null = stat()
        guard stat("/dev/null", &null) == 0 else { return false }
        return file.st_mode & S_IFMT == S_IFCHR && file.st_rdev == null.st_rdev
    }

    package func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        state.withLock { state in
            if state.descriptor >= 0, state.size + bytes.count > mostBytes {
                close(state.descriptor)
                state.descriptor = -1
                rename(path, path + ".1")
            }
            if state.descriptor < 0 { reopen(&state) }
            guard state.descriptor >= 0 else { return }
            // One call per line, so that lines of overlapping daemons do not mix.
            state.size += max(0, bytes.withUnsafeBytes { writeBytes(state.descriptor, $0.baseAddress, $0.count) })
        }
    }

    /// Reopens the file at the next line, after another program has renamed it.
    package func reopen() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            close(state.descriptor)
            state.descriptor = -1
        }
    }

    private func reopen(_ state: inout State) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        state.descriptor = open(path, flags, 0o600)
        var status = stat()
        state.size = state.descriptor >= 0 && fstat(state.descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Writes log events to the file in the format of ``StreamLogHandler``.
    package struct Handler: LogHandler {
        private let file: LogFile
        private let label: String
        package var logLevel = Logger.Level.info
        package var metadata: Logger.Metadata = [:]

        package init(_ file: LogFile, label: String) { (self.file, self.label) = (file, label) }

        package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        package func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            let time = Date().formatted(.iso8601)
            file.write("\(time) \(event.level) \(label):\(pairs) [\(event.source)] \(event.message)")
        }
    }
}

// Needed because `LogFile.write` hides the function.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
