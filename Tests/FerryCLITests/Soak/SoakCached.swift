import FerryTesting

/// A kind of file that clients of the gateway ask for in a soak: the behaviour of its server, and what clients may get.
enum SoakCached: String, CaseIterable, Sendable {
    case digested, undigested, unstated, slow, broken, truncated, redirected, busy, large
    case endless, wrongDigest, corrupt, unavailable, missing

    /// What a client may get that stays.
    enum End: Sendable, Hashable {
        case whole
        /// The file, or this error while the gateway goes on trying.
        case wholeOr(Int)
        /// This error.
        case status(Int)
        /// Never the whole file: a body that breaks off, or an error.
        case refused
    }

    /// The bytes that the cache of the gateway keeps: less than the files of one round.
    static let cacheSize: Int64 = 8_000_000

    var end: End {
        switch self {
        case .digested, .undigested, .unstated, .slow, .broken, .truncated, .redirected, .large: .whole
        case .busy: .wholeOr(503)
        case .unavailable: .status(503)
        case .missing: .status(404)
        case .endless, .wrongDigest, .corrupt: .refused
        }
    }

    private var size: Int64 {
        switch self {
        case .undigested, .unstated, .broken: 1_500_000
        // With a stated size it is sent, although the cache is smaller.
        case .large: 10_000_000
        default: 500_000
        }
    }

    /// Whether the page of the index has a digest of the file.
    private var hasDigest: Bool {
        switch self {
        case .digested, .busy, .slow, .truncated, .wrongDigest, .corrupt: true
        default: false
        }
    }

    private var behaviour: Behaviour {
        switch self {
        case .digested, .undigested, .large, .wrongDigest: .honest
        case .unstated: .chunked()
        case .slow: .rate(400_000)
        case .broken: .gets(2, .cut(after: 400_000, .reset))
        case .truncated: .gets(2, .cut(after: 200_000))
        case .redirected: .redirectChain(3)
        case .busy: .gets(2, .status(503, retryAfter: "1"))
        case .endless: .endlessBody()
        case .corrupt: .gets(.max, .corrupt(at: 300_000))
        case .unavailable: .status(503)
        case .missing: .status(404)
        }
    }

    /// Serves the file of this kind with a number.
    func file(_ number: Int, on server: OriginServer) -> SoakFile {
        let file = SoakFile(path: "/cached/\(number)-\(rawValue).whl", size: size, seed: UInt64(number))
        file.serve(on: server, behaviour)
        return file
    }

    /// The link to the file on a page of the index.
    func link(to file: SoakFile) -> String {
        let digest = hasDigest ? "#sha256=\(digest(of: file))" : ""
        return "<a href=\"\(file.path)\(digest)\">\(rawValue)</a>\n"
    }

    private func digest(of file: SoakFile) -> String {
        self == .wrongDigest ? String(repeating: "0", count: 64) : file.resource.sha256
    }
}
