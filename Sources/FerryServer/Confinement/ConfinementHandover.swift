import FerryAPI
import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What the program tells itself across exec(2), in memory that has a descriptor and no name.
struct ConfinementHandover: Sendable, Hashable, Codable {
    var confinement: Confinement
    /// Directories of downloads that are not there and cannot be made.
    var leftOut: [String]
    /// The socket to the process that starts commands, and that process.
    var starter: Int32
    var starterProcess: Int32

    private static let mostBytes = 16 << 20

    /// Writes it, and returns a descriptor that exec(2) closes as long as nobody says otherwise.
    func write() throws(DownloadError) -> Int32 {
        let bytes: Data
        do { bytes = try APICoding.encode(self) } catch {
            throw DownloadError(.internal, "what a confined daemon is told cannot be written", underlying: "\(error)")
        }
        let descriptor = Landlock.makeMemory()
        guard descriptor >= 0 else { throw PrivateFile.failure(.create, "memfd") }
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let failure = PrivateFile.failure(.write, "memfd")
                close(descriptor)
                throw failure
            }
            rest = rest.dropFirst(count)
        }
        return descriptor
    }

    /// Reads it from its start, and closes the descriptor; `nil` when that holds none.
    static func read(_ descriptor: Int32) -> ConfinementHandover? {
        guard descriptor > 2, fcntl(descriptor, F_GETFD) >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= mostBytes {
            let count = piece.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(bytes.count))
            }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return try? APICoding.decode(ConfinementHandover.self, from: Data(bytes))
    }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
