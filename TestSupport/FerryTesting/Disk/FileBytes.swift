package import FerryCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// All bytes of a small generated file, generated once, so that a comparison is a single `memcmp`.
package final class FileBytes: Sendable {
    package let all: [UInt8]

    private static let known = Mutex<[String: FileBytes]>([:])

    private init(_ resource: Resource) { all = resource.bytes(0..<resource.size) }

    /// Returns the shared bytes of this resource.
    package static func of(_ resource: Resource) -> FileBytes {
        let key = "\(resource.seed) \(resource.size) \(resource.literal?.hashValue ?? 0)"
        if let bytes = known.withLock({ $0[key] }) { return bytes }
        let bytes = FileBytes(resource)
        known.withLock { $0[key] = bytes }
        return bytes
    }

    package var count: ByteCount { ByteCount(all.count) }

    /// Whether `buffer` equals the file's bytes from `offset`.
    package func equals(_ buffer: UnsafeRawBufferPointer, at offset: ByteCount) -> Bool {
        guard offset >= 0, offset + ByteCount(buffer.count) <= count else { return false }
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return true }
        return all.withUnsafeBytes { all in
            guard let own = all.baseAddress else { return false }
            return memcmp(own + Int(offset), base, buffer.count) == 0
        }
    }
}
