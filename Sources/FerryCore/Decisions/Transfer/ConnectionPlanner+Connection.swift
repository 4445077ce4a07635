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
            /// Comparing samples of the partial content with the connection's source.
            case comparing
            /// Waiting for other downloads, which use all permitted connections to the host.
            case waitingForPermit
            /// Waiting for the response head of a request that was sent at this time.
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
                /// The rest of the file, from the response that settled the identity.
                case rest
                /// The file from byte 0, from the response that settled the identity.
                case whole
            }
            var kind: Kind
            /// Whether the driver has storage for the file. Until then, no byte is read.
            var isPlaced = true
            /// Whether the body will be verified with its own digest at its end.
            var isChecked = false
            var bytes: ByteCount = 0

            /// Whether the response settled the identity, and runs to the end of the file.
            var isProbe: Bool { kind == .rest || kind == .whole }
        }

        /// Whether the driver is reading or has suspended reading.
        enum Demand: Sendable, Equatable {
            case asking
            case paused(since: Duration)
        }

        struct Cut: Sendable {
            enum Reason: Sendable {
                /// The connection is no longer needed, or the server's failure has already been counted.
                case superseded
                case stalled
                /// The network changed, or the permit is missing. The end of the request never counts as a failure.
                case abandoned
            }
            var reason: Reason
            /// Whether the cancellation was passed to the driver.
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
        /// Whether the connection has given up its segment for a reader, and must not extend it.
        var yields = false
        /// Whether the connection has received no response yet, so that its first request includes the set-up.
        var isNew = true
        var bytes: ByteCount = 0
        var tickBytes: ByteCount = 0
        var speed: Double = 0
        /// The part of ``bytes`` that ``TransferFacts`` has counted.
        var observedBytes: ByteCount = 0
        /// The byte count and time at which the connection last reached the number of bytes required in
        /// ``Limits/stallTimeout``.
        var markBytes: ByteCount = 0
        var markTime: Duration
        /// The byte count at the time when the connection had last received another ``Limits/stallBytes``.
        var broughtBytes: ByteCount = 0
        var lastByte: Duration
        /// The shortest round trip in seconds; 0 until it is known.
        var shortestTrip: Double = 0
        /// The number of consecutive unusable responses.
        var misfits = 0

        init(at now: Duration) { (markTime, lastByte) = (now, now) }

        var isCut: Bool { cut != nil }
        var isAsking: Bool { demand == .asking }
        var isIdle: Bool { request == nil }
        var isComparing: Bool { if case .comparing = activity { true } else { false } }
        var waitsForPermit: Bool { if case .waitingForPermit = activity { true } else { false } }

        /// The request in progress, and the time at which it was sent.
        var request: (fetch: TransferMachine.Fetch, since: Duration)? {
            switch activity {
            case .idle, .comparing, .waitingForPermit: nil
            case .asking(let fetch, let since), .reading(let fetch, let since, _): (fetch, since)
            }
        }

        /// The minimum number of bytes from a response before its connection may be replaced by a new one.
        private static let worthARequest: ByteCount = 64 << 10

        /// Whether the response in progress has delivered enough to justify another request. Otherwise, the first bytes
        /// of a slow server would be requested again and again.
        var hasDelivered: Bool {
            guard case .reading(_, _, let body) = activity else { return false }
            return body.isPlaced && body.bytes >= Self.worthARequest
        }

        /// The body in progress. Setting it starts reading the response to the request in progress.
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

        /// Starts measuring a stall.
        mutating func mark(at now: Duration) { (markTime, markBytes, broughtBytes) = (now, bytes, bytes) }
    }
}
