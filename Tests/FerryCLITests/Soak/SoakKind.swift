import FerryAPI
import FerryCore

/// A kind of download in a soak: the behaviour of its server, and the expected end.
enum SoakKind: String, CaseIterable, Sendable {
    case small, plain, slow, broken, busy, ignoresRanges, shiftsRanges, wrongDigestOnce, chunked, moved
    case notFound, wantsCredentials, wrongChecksum, endless, redirectsForEver, cancelled

    /// The end of a download.
    enum End: Sendable, Hashable {
        case completed
        case failed(DownloadError.Code)
        case waiting(WaitReason)
        case cancelled

        /// `nil` for a state that is no end.
        init?(_ state: DownloadState) {
            switch state {
            case .completed: self = .completed
            case .failed(let error): self = .failed(error.code)
            case .cancelled: self = .cancelled
            case .waiting(.credentials): self = .waiting(.credentials)
            default: return nil
            }
        }
    }

    /// Its bytes, where it has an end.
    var size: Int64 {
        switch self {
        case .small: 20_000
        case .plain, .ignoresRanges: 5_000_000
        case .shiftsRanges: 9_000_000
        default: 2_000_000
        }
    }

    /// The query of the URL after size and name.
    private var behaviour: String {
        switch self {
        case .small, .plain, .moved, .wrongChecksum: ""
        case .slow: "&rate=1M"
        // The download lasts until it is cancelled.
        case .cancelled: "&rate=10K"
        case .broken: "&reset=700000&times=2"
        case .busy: "&status=503,1&times=1"
        case .ignoresRanges: "&ranges=ignore"
        case .shiftsRanges: "&shift=65536&ranged&times=2"
        case .wrongDigestOnce: "&baddigest&times=1"
        case .chunked: "&chunked"
        case .notFound: "&status=404"
        case .wantsCredentials: "&auth=basic:user:password"
        case .endless: "&endless"
        case .redirectsForEver: "&loop"
        }
    }

    /// The expected end when only the action of its kind is performed.
    var end: End {
        switch self {
        case .small, .plain, .slow, .broken, .busy, .ignoresRanges, .shiftsRanges, .wrongDigestOnce, .chunked, .moved:
            .completed
        case .notFound: .failed(.refused)
        case .wantsCredentials: .waiting(.credentials)
        case .wrongChecksum: .failed(.checksum)
        case .endless: .failed(.tooLarge)
        case .redirectsForEver: .failed(.refused)
        case .cancelled: .cancelled
        }
    }

    /// The path of a URL that is used once: the server counts requests by it.
    func path(_ number: Int) -> String { "/file/\(size)/\(rawValue)-\(number).bin?seed=\(number)\(behaviour)" }

    func request(_ id: String, url: String) throws -> DownloadRequest {
        var new = DownloadRequest(sources: [try DownloadURL(url)], destination: .directory(""))
        new.id = DownloadID(rawValue: id)
        switch self {
        case .endless: new.maxBytes = 1_000_000
        case .wrongChecksum: new.checksum = Checksum(algorithm: .sha256, bytes: Array(repeating: 0, count: 32))
        default: break
        }
        return new
    }
}
