public import Ferry

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A file that a scripted manager or a ``LocalOrigin`` serves: its bytes are generated, and a script determines how they arrive.
public struct ScriptedFile: Sendable, Hashable {
    /// How the bytes arrive.
    public enum Pace: Sendable, Hashable {
        /// As fast as the client accepts them.
        case atOnce
        /// This many bytes each second, 1 or more.
        case bytesPerSecond(ByteCount)
        /// As fast as the client accepts them up to this offset of the file, and no further: the download stops there until it
        /// is paused or cancelled.
        case stops(at: ByteCount)
    }

    /// The path of the URL, such as `/films/one.mp4`; a query is ignored.
    public var path: String
    /// The size of the file, 0 or more.
    public var bytes: ByteCount
    /// How the bytes arrive. Default ``Pace/atOnce``.
    public var pace: Pace
    /// The status of the response, if it is not 200 or 206: the download fails or waits accordingly. Default `nil`.
    public var status: Int?
    /// The version of the file: each version has different bytes and a different ETag. Default 1.
    public var version = 1

    /// Creates a file that can be downloaded.
    public init(_ path: String, bytes: ByteCount = 1_000_000, pace: Pace = .atOnce) {
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        self.bytes = max(0, bytes)
        self.pace = pace
    }

    /// Creates a file that the server refuses with a status, 404 by default.
    public static func refused(_ path: String, status: Int = 404) -> ScriptedFile {
        var file = ScriptedFile(path, bytes: 0)
        file.status = status
        return file
    }

    /// A URL of the file on a host that does not exist, for a scripted manager, which serves every host.
    public var url: DownloadURL {
        get throws(DownloadError) { try DownloadURL("https://scripted.invalid" + path) }
    }

    /// The path in the form used in requests, percent-encoded.
    var target: String { (try? url)?.path ?? path }

    /// The bytes of the file, for comparison with the downloaded bytes.
    public var content: Data { Data(content(0..<bytes)) }

    func content(_ range: Range<ByteCount>) -> [UInt8] {
        // Each eight bytes are a hash of their position, the path and the version.
        var seed: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bitPattern: Int64(version))
        for byte in path.utf8 { seed = (seed ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return range.map { offset in
            var word = seed &+ UInt64(offset / 8) &* 0x9e37_79b9_7f4a_7c15
            word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
            return UInt8(truncatingIfNeeded: (word ^ word >> 27) >> UInt64(offset % 8 * 8))
        }
    }

    var etag: String { "\"scripted-\(version)-\(bytes)\"" }
}
