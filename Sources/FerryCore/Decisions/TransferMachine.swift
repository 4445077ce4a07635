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
        /// As ``maxAttempts``, while the host refuses every connection and nothing has come from it yet; `nil` for the
        /// same.
        package var maxFirstAttempts: Int?
        package var maxBytes: ByteCount?
        /// The size that the file must have.
        package var expectedBytes: ByteCount?
        /// The bytes go to an output, from which they cannot be taken back.
        package var isStream = false
        package var rules = ResumeRules()
        /// Whether a journal claims the written bytes, which a kill would lose otherwise, synced or not.
        package var claims = true
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
        /// `isRefused`: the host refused the connection.
        case failedBeforeHead(Reason, isTransient: Bool, isRefused: Bool = false)
        /// The connection was lost while the body was read.
        case broken(Reason)
        /// As broken: TLS ended without close_notify. Without a declared length this may have been the end of the body.
        case cutOff(Reason)
        /// The body was read to its declared end but did not match its digest; its written bytes were discarded.
        case spoiled(expected: String, actual: String)
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
        /// All bytes are there: the transfer ends when all connections have ended.
        case finishing
        /// The transfer has ended with an error that the driver does not know yet.
        case failing(DownloadError)
        case ended

        /// Whether requests are sent.
        var isActive: Bool { self == .opening || self == .running }

        /// Whether the transfer has ended, with or without the driver's knowledge.
        var isOver: Bool {
            switch self {
            case .failing, .ended: true
            case .opening, .running, .reopening, .waiting, .finishing: false
            }
        }
    }

    package internal(set) var settings: Settings
    package internal(set) var phase = Phase.opening
    package internal(set) var planner: SegmentPlanner
    package internal(set) var file: RemoteFile
    package internal(set) var arrivals = Arrivals()
    package var readers = Readers()
    /// The failed attempts, and what counts as progress.
    package internal(set) var retry: RetryPolicy
    var connections: [ConnectionID: Connection] = [:]
    var openings = Openings()
    var sources: Sources
    var checkpoints = Checkpoints()
    var policy: ConnectionCountPolicy
    var latency: ResponseLatency
    var cutOffs = CutOffs()
    /// Whether the host has sent any response in this run.
    var hasResponse = false
    /// What limits the speed.
    var limits = BottleneckPolicy()
    private var events: [LocalizedEvent] = []

    /// Begins with the ranges that a journal claims, or with none. `finished` are the validators of a finished file
    /// that may be current.
    package init(
        settings: Settings, held: PartialContent? = nil, total: ByteCount? = nil, weakestJoin: Proof? = nil,
        finished: FileIdentity? = nil
    ) {
        self.settings = settings
        let total = held == nil ? nil : total.flatMap { $0 < 0 ? nil : $0 }
        planner = SegmentPlanner(
            total: total, claimed: held?.ranges.intersection(RangeSet(0..<(total ?? .max))) ?? RangeSet())
        file = RemoteFile(
            identity: held?.identity ?? FileIdentity(), weakestJoin: weakestJoin, finished: finished,
            isComplete: planner.isComplete)
        policy = ConnectionCountPolicy(limit: settings.maxConnections)
        latency = ResponseLatency(mostPatience: settings.stallTimeout)
        retry = RetryPolicy(maxAttempts: settings.maxAttempts, memory: settings.memory)
        retry.holds(planner.writtenBytes)
        sources = Sources(count: settings.sources, isFirstProven: !settings.isNewSource && !settings.doubtsHeld)
    }

    /// Returns the partial content for a comparison with this source: under the validators of its earlier responses or,
    /// the first time, under the length alone.
    func held(from source: Int) -> PartialContent {
        let known =
            sources[source].identity
            ?? FileIdentity(totalBytes: planner.total, contentType: file.identity.contentType)
        var held = PartialContent(
            identity: source == sources.primary ? file.identity : known, ranges: planner.written,
            sampledAs: sources[source].sampledAs)
        held.digests = file.representation?.digests ?? []
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
        if file.representation?.digests.isEmpty == false { rules.hasDigest = true }
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
        guard planner.total != nil, file.representation?.refusesRanges == false else { return false }
        if file.identity.strongValidator != nil || rules.hasDigest { return true }
        return settings.rules.trust.allowsUnprovenParts && !settings.rules.trust.strict
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

    /// Enters a phase, unless the driver is to be told an error first.
    mutating func enter(_ next: Phase) {
        if case .failing = phase { return }
        phase = next
    }

    mutating func report(_ event: LocalizedEvent) { events.append(event) }

    mutating func note(_ text: Reason) { report(.note(text)) }
}
