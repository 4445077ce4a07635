extension ConnectionPlanner {
    /// A connection: its state, whether it is being cancelled, and the bytes that it has delivered.
    ///
    /// ```
    /// idle ──send──► asking ──head──► reading ──end──► idle
    ///                          └─ first bytes decide: reading an unjudged body, then as above
    /// ```
    struct Connection: Sendable {
        enum Activity: Sendable {
            /// Between two requests.
            case idle
            /// Compares samples of the partial content with those of its source.
            case comparing
            /// Waits for other downloads, which have all connections to the host.
            case waitingForPermit
            /// Has sent a request, at this time, and has no response head yet.
            case asking(TransferMachine.Fetch, since: Duration)
            case reading(TransferMachine.Fetch, since: Duration, Body)
        }

        /// The body of the response in progress.
        struct Body: Sendable {
            enum Kind: Sendable {
                /// The first bytes decide whether the body is a web page.
                case unjudged
                /// A range of the settled file.
                case range
                /// The rest of the file: the response that settled the identity.
                case rest
                /// The file from byte 0; it settled the identity as well.
                case whole
            }
            var kind: Kind
            /// Whether the driver has storage for the file. Until then no byte is read.
            var isPlaced = true
            /// Whether the body will be verified with its own digest at its end.
            var isChecked = false
            var bytes: ByteCount = 0

            /// Whether the response settled the identity, and runs to the end of the file.
            var isProbe: Bool { kind == .rest || kind == .whole }
        }

        /// Whether the driver reads, or has suspended reading.
        enum Demand: Sendable, Equatable {
            case asking
            case paused(since: Duration)
        }

        struct Cut: Sendable {
            enum Reason: Sendable {
                /// The connection is not needed any more, or the server was to blame and has been blamed.
                case superseded
                case stalled
                /// The network changed, or the permit is missing: however the request ends, it is no failure.
                case abandoned
            }
            var reason: Reason
            /// Whether the command was returned to the driver.
            var isSent = false

            init(_ earlier: Cut?, _ reason: Reason) {
                self.reason = reason
                isSent = earlier?.isSent ?? false
            }
        }

        var source = 0
        var activity = Activity.idle
        var demand = Demand.asking
        var cut: Cut?
        /// Whether it has left its segment for a reader, and must not extend it.
        var yields = false
        /// Whether it has had no response yet: its first request includes the set-up.
        var isNew = true
        var bytes: ByteCount = 0
        var tickBytes: ByteCount = 0
        var speed: Double = 0
        /// Of ``bytes``, those that ``TransferFacts`` have counted.
        var observedBytes: ByteCount = 0
        /// Bytes and time at which the connection last had received as many more as it must in ``Limits/stallTimeout``.
        var markBytes: ByteCount = 0
        var markTime: Duration
        /// Bytes at which it last had received ``Limits/stallBytes`` more.
        var broughtBytes: ByteCount = 0
        var lastByte: Duration
        /// The shortest round trip in seconds; 0 until it is known.
        var shortestTrip: Double = 0
        /// Consecutive unusable responses.
        var misfits = 0

        init(at now: Duration) { (markTime, lastByte) = (now, now) }

        var isCut: Bool { cut != nil }
        var isAsking: Bool { demand == .asking }
        var isIdle: Bool { request == nil }
        var isComparing: Bool { if case .comparing = activity { true } else { false } }
        var waitsForPermit: Bool { if case .waitingForPermit = activity { true } else { false } }

        /// The request in progress, and when it was sent.
        var request: (fetch: TransferMachine.Fetch, since: Duration)? {
            switch activity {
            case .idle, .comparing, .waitingForPermit: nil
            case .asking(let fetch, let since), .reading(let fetch, let since, _): (fetch, since)
            }
        }

        /// Bytes that a response must have brought before its connection is given up for a new one.
        private static let worthARequest: ByteCount = 64 << 10

        /// Whether the response in progress has brought enough to be worth another request. A slow server must not be
        /// asked again and again for its first bytes.
        var hasDelivered: Bool {
            guard case .reading(_, _, let body) = activity else { return false }
            return body.isPlaced && body.bytes >= Self.worthARequest
        }

        /// The body in progress. Setting one begins to read the response to the request in progress.
        var body: Body? {
            get { if case .reading(_, _, let body) = activity { body } else { nil } }
            set {
                guard let request, let newValue else { return }
                activity = .reading(request.fetch, since: request.since, newValue)
            }
        }

        mutating func receives(_ count: ByteCount) {
            guard case .reading(let fetch, let since, var body) = activity else { return }
            body.bytes += count
            body.isPlaced = true
            activity = .reading(fetch, since: since, body)
        }

        /// Begins to measure a stall.
        mutating func mark(at now: Duration) { (markTime, markBytes, broughtBytes) = (now, bytes, bytes) }
    }
}
