/// The state machine of one transfer: what each connection requests, when to open and cancel connections, when to sync,
/// and when the transfer is over.
///
/// Inputs are facts (`headReceived`, `arrived`, `ended`, `tick`), outputs are commands; the machine has no side
/// effects. Time is a `Duration` since a fixed start; randomness is an argument. The driver calls the machine under one
/// lock.
///
/// A transfer opens with one connection; its response settles the identity of the file (``ResumePolicy``), and only
/// then may others join. When no connection is left, the transfer opens again with one, under the same rules.
package struct TransferMachine: Sendable {
    /// Limits and rules of the user and the manager.
    package struct Settings: Sendable {
        package var maxConnections = 16
        /// A connection that receives fewer than ``stallBytes`` in this time, back-pressure excluded, is cancelled.
        package var stallTimeout: Duration = .seconds(60)
        package var stallBytes: ByteCount = 1000
        package var maxAttempts: Int? = 10
        package var maxBytes: ByteCount?
        /// The size that the file must have.
        package var expectedBytes: ByteCount?
        /// The bytes go to an output, from which they cannot be taken back.
        package var isStream = false
        package var rules = ResumeRules()
        package var syncs = true
        package var sources = 1
        /// The sources' URLs for messages; empty where their numbers suffice.
        package var sourceNames: [String] = []
        /// The partial content is of another URL than the first source: the source must be proven, and if it proves to
        /// be another file, that is a conflict, never a restart.
        package var isNewSource = false
        /// The partial content was moved or is doubtful: samples are compared first.
        package var doubtsHeld = false
        /// The retry state of earlier runs.
        package var memory = RetryMemory()
        package init() {}
    }

    /// A request to send.
    package struct Fetch: Hashable, Sendable {
        package var ask: RangeAsk
        /// The value of If-Range.
        package var ifRange: String?
        /// Validators of a finished file; makes the request conditional.
        package var unless: FileIdentity?
        /// The index of the source.
        package var source: Int
        /// Whether to request the original URL and follow its redirects, instead of the last redirect target.
        package var fromOriginal: Bool
    }

    /// The next action of a connection.
    package enum Order: Hashable, Sendable {
        case fetch(Fetch)
        /// Compare samples of the partial content with this source, then call ``sampled(_:source:offered:)``.
        case prove(source: Int)
        /// Back up the partial content, then call ``restarted()``.
        case restart(Reason)
        /// End the connection: there is nothing to fetch.
        case leave
    }

    /// The action for a response.
    package enum HeadAction: Hashable, Sendable {
        /// Prepare storage for this representation, then read the body.
        case begin(Representation)
        /// Read the body.
        case read
        /// Back up the partial content, prepare storage for this representation, then read the body.
        case restartWith(Reason, Representation)
        /// The existing finished file is current.
        case unchanged
        /// Discard the body and call ``next(for:at:)`` again.
        case drop
        /// Discard the body and end the connection.
        case leave
    }

    /// An action of the driver outside of a connection's task.
    package enum Command: Hashable, Sendable {
        case open(ConnectionID)
        case cut(ConnectionID)
        /// Sync and claim: ``beginCheckpoint(at:)``, then ``checkpointEnded(_:succeeded:at:)``.
        case checkpoint
        /// All bytes are written.
        case finish
        case fail(DownloadError)
    }

    /// How a connection's request ended.
    package enum End: Hashable, Sendable {
        /// The body was read to its declared end.
        case complete
        /// Reading was stopped: the segment was done, or the connection was cut.
        case stopped
        /// No usable response head: refused, timed out, connection lost.
        case failedBeforeHead(Reason, isTransient: Bool)
        /// The connection was lost while the body was read.
        case broken(Reason)
        /// The body was read to its declared end but did not match its digest; its written bytes were discarded.
        case spoiled(expected: String, actual: String)
    }

    enum Checkpoint: Sendable {
        case none
        case running
        /// The transfer restarted while a sync was running: the sync's snapshot is of the old file.
        case stale
    }

    package enum Phase: Hashable, Sendable {
        /// One connection determines the identity of the file.
        case opening
        /// The identity is settled.
        case running
        /// The file has changed: the transfer restarts when all connections have ended.
        case reopening(Reason)
        /// Backing off after a transient failure.
        case waiting(until: Duration)
        case ended
    }

    struct Source: Sendable {
        enum Trust: Hashable, Sendable { case unproven, proven, dropped }
        var trust: Trust
        var identity: FileIdentity?
        /// The validators of this source when samples of the partial content matched.
        var sampledAs: FileIdentity?
        /// Cleared when the source responds to a matching If-Range with the whole file.
        var sendsIfRange = true
        var fromOriginal = true
        /// A redirect target of this source failed: always request the original URL.
        var alwaysOriginal = false
        /// Consecutive requests without a usable response head; the source with the fewest failures is preferred.
        var failures = 0
        /// Samples proved that this source has other bytes than the primary one.
        var isRival = false
    }

    package internal(set) var settings: Settings
    package internal(set) var planner: SegmentPlanner
    /// The identity of the file, as ``primary`` describes it.
    package internal(set) var identity: FileIdentity
    package internal(set) var representation: Representation?
    /// The weakest join of two responses so far; `nil` while all bytes are of one response.
    package internal(set) var weakestJoin: Proof?
    package internal(set) var events: [LocalizedEvent] = []
    /// Bytes of response bodies received, including discarded ones.
    package internal(set) var receivedBytes: ByteCount = 0
    package internal(set) var phase: Phase
    /// The number of times that the file was found changed.
    package internal(set) var changes = 0

    var connections: [ConnectionID: Connection] = [:]
    var sources: [Source]
    var policy: ConnectionCountPolicy
    var retry: RetryPolicy
    /// The source that defines the file: only a change there is a change of the file.
    var primary = 0
    /// Validators of the existing finished file that a 304 refers to.
    package internal(set) var finished: FileIdentity?
    /// The maximum of bytes present for this file: only more than these count as progress.
    var mostWritten: ByteCount = 0
    /// When any connection last had received ``Settings/stallBytes`` more.
    var lastBrought: Duration?
    /// Bytes received in responses with a wrong digest: the n-th set has those received at least n times.
    var spoiled = Array(repeating: RangeSet<ByteCount>(), count: TransferMachine.mostSpoiled)
    /// Whether the file's own digest alone counts, because the server's Content-Digest was wrong too often.
    package internal(set) var distrustsContentDigests = false
    /// The bytes that other sources than the primary one have brought.
    var fromMirrors: [Int: RangeSet<ByteCount>] = [:]
    /// The error of a complete file without its digest, while sources are searched that may have other bytes.
    var refutation: DownloadError?
    /// The error with which the primary source was dropped.
    var deadEnd: DownloadError?
    /// The opening requests the whole file, because the responses to ranges were unusable.
    var openingAsksWhole = false
    var isFinishing = false
    /// The held content is an existing file, which is used if samples match and is left alone otherwise.
    package internal(set) var isExamining = false
    /// The error that ended the transfer, until it is returned to the driver.
    var failure: DownloadError?
    var sawWholeEnd = false
    var lastID = 0
    var lastCheckpoint: Duration?
    var checkpoint = Checkpoint.none
    var notBefore: Duration = .zero
    /// How long a connection may receive nothing before others take its bytes: three times as long as a response
    /// usually takes here, and doubled each time until the next response.
    var patience = TransferMachine.leastPatience
    static let leastPatience: Duration = .seconds(2)
    var lastTick: Duration?
    /// The first bytes of a file have arrived since the last tick: others may join.
    var mayOpen = false
    package internal(set) var readers: [ReaderID: Reader] = [:]
    var lastReader = 0
    var latency = ResponseLatency()
    var reconnection = ReconnectionPolicy()
    /// What limits the speed.
    var limits = BottleneckPolicy()

    /// Begins with the ranges that a journal claims, or with none. `finished` are the validators of a finished file
    /// that may be current.
    package init(
        settings: Settings, held: PartialContent? = nil, total: ByteCount? = nil, weakestJoin: Proof? = nil,
        finished: FileIdentity? = nil
    ) {
        self.settings = settings
        self.finished = finished
        identity = held?.identity ?? FileIdentity()
        let total = held == nil ? nil : total.flatMap { $0 < 0 ? nil : $0 }
        planner = SegmentPlanner(
            total: total, claimed: held?.ranges.intersection(RangeSet(0..<(total ?? .max))) ?? RangeSet())
        mostWritten = max(planner.writtenBytes, settings.memory.mostBytes)
        changes = max(0, settings.memory.changes)
        self.weakestJoin = weakestJoin
        policy = ConnectionCountPolicy(limit: settings.maxConnections)
        retry = RetryPolicy(maxAttempts: settings.maxAttempts, attempts: settings.memory.attempts)
        let isDoubtful = settings.isNewSource || settings.doubtsHeld
        sources = (0..<max(1, settings.sources)).map { Source(trust: $0 == 0 && !isDoubtful ? .proven : .unproven) }
        phase = .opening
        sawWholeEnd = planner.isComplete
    }

    /// Returns the partial content for a comparison with this source: under the validators of its earlier responses or,
    /// the first time, under the length alone.
    func held(from source: Int) -> PartialContent {
        let known =
            sources[source].identity
            ?? FileIdentity(totalBytes: planner.total, contentType: identity.contentType)
        var held = PartialContent(
            identity: source == primary ? identity : known, ranges: planner.written,
            sampledAs: sources[source].sampledAs)
        held.digests = representation?.digests ?? []
        return held
    }

    /// Returns the reference for samples of this source, and the rules of comparison.
    package func sampleBasis(of source: Int) -> (held: PartialContent, rules: ResumeRules) {
        var held = held(from: source)
        held.identity.totalBytes = planner.total
        return (held, rules)
    }

    /// The user's rules, with `hasDigest` also set for a digest that the server declared.
    package var rules: ResumeRules {
        var rules = settings.rules
        if let representation, !representation.digests.isEmpty { rules.hasDigest = true }
        return rules
    }

    /// Whether partial content is being requested from an unproven new link; the recorded identity must not change
    /// then.
    package var isLinkUnproven: Bool { settings.isNewSource && !planner.written.isEmpty }

    package var activeConnections: Int { connections.values.count { $0.body != nil && !$0.isCut } }
    package var openConnections: Int { connections.count }

    /// Whether several connections may fetch parts of this file (RFC 9110 §15.3.7.3).
    package var allowsParts: Bool {
        settings.maxConnections > 1 && joinsParts
    }

    /// Whether the server's validators permit joining parts, regardless of the user's limit.
    var joinsParts: Bool {
        guard planner.total != nil, representation?.refusesRanges == false else { return false }
        if identity.strongValidator != nil || rules.hasDigest { return true }
        return settings.rules.trust.allowsUnprovenParts && !settings.rules.trust.strict
    }

    /// The proof of the complete file, before a digest is compared.
    package var proof: Proof {
        if let weakestJoin { return weakestJoin }
        return sawWholeEnd && representation?.endsByClose != true ? .single : .none
    }

    /// Removes and returns the events since the last call.
    package mutating func drainEvents() -> [LocalizedEvent] {
        defer { events.removeAll() }
        return events
    }

    /// Changes one connection with a single dictionary look-up.
    @discardableResult
    mutating func change<Value>(_ id: ConnectionID, _ body: (inout Connection) -> Value) -> Value? {
        guard let index = connections.index(forKey: id) else { return nil }
        return body(&connections.values[index])
    }

    /// Cancels a connection. The first reason stays, but an abandoned connection fails for no other.
    mutating func cut(_ id: ConnectionID, _ reason: Connection.Cut.Reason = .superseded) {
        change(id) { connection in
            if connection.cut == nil || reason == .abandoned { connection.cut = .init(connection.cut, reason) }
        }
    }

    /// The number of other connections that may still deliver.
    func others(than id: ConnectionID) -> Int { connections.count { $0.key != id && !$0.value.isCut } }

    mutating func join(_ proof: Proof) { weakestJoin = min(weakestJoin ?? .strong, proof) }

    /// The strength of joining parts under the present validators.
    var partStrength: Proof {
        if identity.strongValidator != nil { return .strong }
        return identity.hasValidator ? .weak : .none
    }

    mutating func note(_ text: Reason) { events.append(.note(text)) }
}
