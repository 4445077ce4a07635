public import struct Foundation.Date

/// Something that happened to a download, with its reason.
public struct DownloadEvent: Sendable, Hashable {
    public var id: DownloadID
    public var date: Date
    public var kind: Kind

    public init(id: DownloadID, date: Date, kind: Kind) {
        self.id = id
        self.date = date
        self.kind = kind
    }

    public enum Kind: Sendable, Hashable {
        /// It is on the list.
        case added(url: String)
        /// The server's first usable answer: the name that was taken, the size, whether it can be resumed.
        case started(name: String, totalBytes: ByteCount?)
        /// It goes on from `offset` bytes that are held.
        case resumed(offset: ByteCount, totalBytes: ByteCount?, reason: String)
        /// A failure that passes; the next attempt comes after `delay`.
        case retrying(attempt: Int, delay: Duration, reason: String)
        /// What is held cannot be used; it begins again at zero. The old bytes are kept aside.
        case restarted(reason: String)
        /// It waits for something other than time.
        case waiting(WaitReason, message: String)
        /// A decision worth knowing: a connection dropped, a mirror refused, a count of connections found.
        case note(String)
        case paused
        case completed(FinishedDownload)
        case failed(DownloadError)
        case cancelled
    }
}

/// A download that has ended well.
public struct FinishedDownload: Sendable, Hashable {
    /// The absolute path of the file; empty when the bytes went to a stream.
    public var path: String
    /// The size of the file.
    public var totalBytes: ByteCount
    public var proof: Proof
    /// Nothing was fetched: the file was there already and is the server's.
    public var wasAlreadyComplete: Bool
    /// The URL that answered at last, after redirects, with `?…` for its query.
    public var finalURL: String
    /// The media type that the server gave.
    public var contentType: String?
    /// Bytes of bodies received in this run, those thrown away included.
    public var receivedBytes: ByteCount

    public init(
        path: String, totalBytes: ByteCount, proof: Proof, wasAlreadyComplete: Bool = false, finalURL: String = "",
        contentType: String? = nil, receivedBytes: ByteCount = 0
    ) {
        self.path = path
        self.totalBytes = totalBytes
        self.proof = proof
        self.wasAlreadyComplete = wasAlreadyComplete
        self.finalURL = finalURL
        self.contentType = contentType
        self.receivedBytes = receivedBytes
    }
}
