import Crypto
import FerryCore
import NIOCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// A complete file that is uploaded from memory or from the disk.
struct UploadSource: Sendable {
    /// The callbacks for a file that other programs may write while it is read.
    struct Watch: Sendable {
        /// Called with the number of bytes each time some are sent. Bytes that are sent again count again.
        var sent: @Sendable (ByteCount) -> Void = { _ in }
        /// Throws if the bytes that were read so far may not come from a single state of the file.
        var check: @Sendable () async throws(DownloadError) -> Void = { () throws(DownloadError) in }
    }

    /// The digests of a range of the file.
    struct Digests: Sendable {
        let sha256: [UInt8]
        let md5: [UInt8]

        /// The SHA-256 in the form that stores use.
        var base64: String { Data(sha256).base64EncodedString() }
    }

    let totalBytes: ByteCount
    private let read: @Sendable (Range<ByteCount>) async throws(DownloadError) -> ByteBuffer
    /// Returns the digests of a range.
    let digests: @Sendable (Range<ByteCount>) async throws(DownloadError) -> Digests
    private let watch: Watch

    init(_ bytes: [UInt8], _ watch: Watch = Watch()) {
        self.watch = watch
        let buffer = ByteBuffer(bytes: bytes)
        totalBytes = ByteCount(bytes.count)
        read = { range throws(DownloadError) in
            buffer.getSlice(at: Int(range.lowerBound), length: Int(range.upperBound - range.lowerBound)) ?? ByteBuffer()
        }
        digests = { range throws(DownloadError) in
            let part = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            return Digests(sha256: ByteDigest.of(part, .sha256), md5: ByteDigest.of(part, .md5))
        }
    }

    /// Creates the source for a complete part file. Its digests are computed on file threads.
    init(_ session: PartSession, totalBytes: ByteCount, _ files: FileIO) {
        self.init(totalBytes: totalBytes, files, Watch()) { session.part($0).file }
    }

    /// Creates the source for an open file of the user, which stays open.
    init(_ file: any File, totalBytes: ByteCount, _ files: FileIO, _ watch: Watch) {
        self.init(totalBytes: totalBytes, files, watch) { _ in file }
    }

    private init(
        totalBytes: ByteCount, _ files: FileIO, _ watch: Watch, _ file: @escaping @Sendable (Disk) -> any File
    ) {
        self.totalBytes = totalBytes
        self.watch = watch
        read = { range throws(DownloadError) in
            do throws(FileError) {
                return ByteBuffer(
                    bytes: try await files.run { disk throws(FileError) in try file(disk).read(range) })
            } catch { throw DownloadError(error) }
        }
        digests = { range throws(DownloadError) in
            do throws(FileError) {
                return try await files.run { disk throws(FileError) in
                    let file = file(disk)
                    var sha256 = PrefixDigest(.sha256, of: file, from: range.lowerBound)
                    var md5 = PrefixDigest(.md5, of: file, from: range.lowerBound)
                    while sha256.position < range.upperBound {
                        let end = min(range.upperBound, sha256.position + 1 << 20)
                        try sha256.advance(to: end)
                        try md5.advance(to: end)
                    }
                    return Digests(sha256: sha256.finish(), md5: md5.finish())
                }
            } catch { throw DownloadError(error) }
        }
    }

    /// Throws if the bytes that were read so far may not come from a single state of the file; they must not become an object.
    func check() async throws(DownloadError) { try await watch.check() }

    /// Returns the content for a request with these bytes.
    func content(_ range: Range<ByteCount>, _ digests: Digests) -> UploadContent {
        UploadContent(
            length: range.upperBound - range.lowerBound, sha256: HexText.string(digests.sha256)
        ) { [read, watch] part in
            watch.sent(part.upperBound - part.lowerBound)
            return try await read(range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
        }
    }
}

extension UploadContent {
    /// Creates the content from bytes in memory.
    init(_ bytes: [UInt8]) {
        let source = UploadSource(bytes)
        let digest = ByteDigest.of(bytes, .sha256)
        self = source.content(
            0..<source.totalBytes, UploadSource.Digests(sha256: digest, md5: []))
    }
}
