package import FerryAPI
package import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The descriptor on which the starter of a daemon waits: receives one line and is then closed.
///
/// Not inherited by child processes, so the reader sees the end of file when the daemon ends.
package struct ReadyDescriptor: Sendable {
    private let number: Int32

    /// Throws `invalidRequest` if the descriptor is not open.
    package init(_ number: Int32) throws(DownloadError) {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, fcntl(number, F_SETFD, flags | FD_CLOEXEC) >= 0 else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.closedDescriptor, "\(number)"), suggestion: ErrorPhrase(.giveDescriptor),
                recovery: .needsUser)
        }
        self.number = number
    }

    /// Keeps the descriptor open across exec(2).
    func keep() { _ = fcntl(number, F_SETFD, 0) }

    /// Writes the line and closes the descriptor. A reader that has gone away is not an error.
    package func tell(_ line: ReadyLine) {
        defer { if number > 2 { close(number) } }
        guard let data = try? APICoding.encode(line) else { return }
        var bytes = (Array(data) + [UInt8(ascii: "\n")])[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
