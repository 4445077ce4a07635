import FerryCore

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

/// The state that the first half of a confined start passes to the second across exec(2), in an anonymous memory file.
struct ConfinementHandover: Sendable, Hashable, Codable {
    var confinement: Confinement
    /// Download directories that do not exist and cannot be created.
    var leftOut: [String]
    /// The socket to the starter process, and the identifier of that process.
    var starter: Int32
    var starterProcess: Int32

    private static let mostBytes = 16 << 20

    /// Writes the handover to a new memory file. Returns its descriptor, which is close-on-exec.
    func write() throws(DownloadError) -> Int32 {
        let bytes: Data
        do { bytes = try JSONCoding.encode(self) } catch {
            throw DownloadError(.internal, "what a confined daemon is told cannot be written", underlying: "\(error)")
        }
        guard bytes.count <= Self.mostBytes else {
            throw DownloadError(.internal, "what a confined daemon is told has \(bytes.count) bytes")
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

    /// Reads a handover from the start of the file and closes the descriptor; `nil` if the file contains none.
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
        return try? JSONCoding.decode(ConfinementHandover.self, from: Data(bytes))
    }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
