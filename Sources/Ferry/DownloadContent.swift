public import FerryCore
package import FerryEngine
import SystemPackage

/// The file of a download, which can be read while it is being downloaded.
///
/// A reader waits for missing bytes, which are fetched before all others. Bytes are handed out as soon as they are written,
/// long before the digest of the whole file is compared; only a read of the whole file waits for that comparison before it ends.
/// All bytes of one sequence belong to one representation.
///
/// A reader does not move a queued download forward in the queue, but waits until the download runs. With a `.background` manager
/// the bytes come through the daemon; readers continue after a restart of the daemon.
public struct DownloadContent: Sendable {
    /// A description of one representation of the file. It keeps that file open.
    public struct Description: Sendable {
        /// The length in bytes; `nil` if the server did not send it.
        public var size: Int64?
        /// The media type that the server sent.
        public var mediaType: String?
        /// A strong validator (RFC 9110 §8.8.3), with its quotes: the server's, or one that Ferry has made. `nil` if there is
        /// neither.
        public var entityTag: String?
        /// The modification date that the server sent, in the format of `Last-Modified`.
        public var lastModified: String?
        /// Whether the file is complete and has its final name.
        public var isComplete: Bool
        /// The open file with this content; `nil` if another process has it open.
        let file: ContentFile?

        package init(
            size: ByteCount?, mediaType: String?, entityTag: String?, lastModified: String?, isComplete: Bool,
            file: ContentFile? = nil
        ) {
            self.size = size
            self.mediaType = mediaType
            self.entityTag = entityTag
            self.lastModified = lastModified
            self.isComplete = isComplete
            self.file = file
        }
    }

    let download: Download

    /// Waits until the size and identity of the file are known. Returns at once for a completed download. Otherwise returns after
    /// the first response; for a small file, returns when the file is complete, or after two seconds.
    ///
    /// Throws the error that ended the download, or `wrongState` if it is paused or writes to a stream.
    public func description() async throws(DownloadError) -> Description {
        try await download.backend.contentReader(of: download, nil, nil).describe()
    }

    /// Returns the bytes of `range`, or of the whole file if it is `nil`, in order and in pieces of at most 256 KiB. A range may
    /// extend beyond the end of the file. With a description, the bytes belong to that representation.
    ///
    /// The sequence throws the error that ends the download, `wrongState` when the download is paused, `notFound` when it is
    /// removed, and `remoteChanged` when the server's file changes. It throws `checksum` if bytes that were handed out are
    /// found to be wrong; a `.background` manager throws `remoteChanged` in this case. A read of the whole file hands out the
    /// last bytes only when the download is complete, so a file that was read to its end has been verified.
    public func bytes(in range: Range<Int64>? = nil, of description: Description? = nil) -> Bytes {
        Bytes(content: self, range: range, description: description)
    }

    /// The bytes of a file in pieces. Each iterator reads from the beginning, and retains the download until the iterator is
    /// released.
    public struct Bytes: AsyncSequence, Sendable {
        public typealias Element = [UInt8]
        public typealias Failure = DownloadError
        let content: DownloadContent
        let range: Range<Int64>?
        let description: Description?

        public func makeAsyncIterator() -> Iterator {
            let download = content.download
            return Iterator(reading: download.backend.contentReader(of: download, range, description))
        }

        public struct Iterator: AsyncIteratorProtocol {
            let reading: any ContentReader

            /// The next piece; `nil` at the end.
            public mutating func next() async throws(DownloadError) -> [UInt8]? { try await reading.next() }

            /// The next piece; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(DownloadError) -> [UInt8]? { try await reading.next() }
        }
    }
}

/// Reads a file in order, on behalf of one task at a time.
package protocol ContentReader: AnyObject {
    func describe() async throws(DownloadError) -> DownloadContent.Description
    func next() async throws(DownloadError) -> [UInt8]?
}

extension Download {
    /// The file, which can be read while it is being downloaded.
    public var content: DownloadContent { DownloadContent(download: self) }
}
