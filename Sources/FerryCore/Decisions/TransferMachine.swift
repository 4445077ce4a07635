/// One download under way: what every connection does next, when to open and cut them, when to sync, when it is over.
///
/// Facts go in (`headReceived`, `arrived`, `ended`, `tick`), commands come out; it does nothing by itself. Time is a
/// `Duration` since any fixed start, randomness an argument. The driver calls it under one lock.
///
/// It opens with one connection whose answer settles which file this is (the identity ladder); only then may others
/// join. When no connection is left it opens again with one, under the same rules.
package struct TransferMachine: Sendable {
    /// What the user and the manager allow.
    package struct Settings: Sendable {
        package var maxConnections = 16
        /// A connection that brings fewer than ``stallBytes`` in this time, while it is asked, is cut.
        package var stallTimeout: Duration = .seconds(60)
        package var stallBytes: ByteCount = 1000
        package var maxAttempts: Int? = 10
        package var maxBytes: ByteCount?
        package var rules = ResumeRules()
        package var syncs = true
        package var sources = 1
        /// The first source is not the one that the held bytes came from: it must prove itself, and proven different it
        /// is a conflict, never a restart.
        package var isNewSource = false
        /// What is held was moved here, or is doubtful: samples come first.
        package var doubtsHeld = false
        /// What earlier runs left of their attempts.
        package var memory = RetryMemory()
        package init() {}
    }

    /// A request to make.
    package struct Fetch: Hashable, Sendable {
        package var ask: RangeAsk
        /// The value for If-Range.
        package var ifRange: String?
        /// Validators of a finished file: makes the request conditional.
        package var unless: FileIdentity?
        /// The index of the source.
        package var source: Int
        /// Start at the URL that was given, with its redirects, not where they led last time.
        package var fromOriginal: Bool
    }

    /// What a connection does next.
    package enum Order: Hashable, Sendable {
        case fetch(Fetch)
        /// Compare samples of what is held with this source, then call ``sampled(_:source:offered:)``.
        case prove(source: Int)
        /// What is held is put aside, then call ``restarted()``.
        case restart(Reason)
        /// There is nothing for this connection to do.
        case leave
    }

    /// What to do with a response.
    package enum HeadAction: Hashable, Sendable {
        /// Make a place for this file, then read the body.
        case begin(Representation)
        /// Read the body.
        case read
        /// Put what is held aside, make a place for this file, then read the body.
        case restartWith(Reason, Representation)
        /// The file that is there already is the server's.
        case unchanged
        /// Drop the body; ask ``next(for:at:)`` again.
        case drop
        /// Drop the body; this connection is over.
        case leave
    }

    /// What the driver does on its own.
    package enum Command: Hashable, Sendable {
        case open(ConnectionID)
        case cut(ConnectionID)
        /// Sync and claim: ``beginCheckpoint(at:)``, then ``checkpointEnded(_:succeeded:at:)``.
        case checkpoint
        /// Everything is written.
        case finish
        case fail(DownloadError)
    }

    /// How a connection's request ended.
    package enum End: Hashable, Sendable {
        /// The body came to its declared end.
        case complete
        /// We stopped reading: the segment was done, or it was cut.
        case stopped
        /// No usable head: refused, timed out, broken.
        case failedBeforeHead(Reason, isTransient: Bool)
        /// The body broke.
        case broken(Reason)
        /// The body came to its declared end and did not have its digest; what it wrote was forgotten.
        case spoiled(expected: String, actual: String)
    }

    package enum Phase: Hashable, Sendable {
        /// One connection finds out which file this is.
        case opening
        /// The identity is settled.
        case running
        /// The file changed under us: everyone leaves, then it restarts.
        case reopening(Reason)
        /// A failure that passes.
        case waiting(until: Duration)
        case ended
    }

    struct Connection: Sendable {
        var source = 0
        var fetch: Fetch?
        var hasHead = false
        var isProbe = false
        /// The body is the file from byte 0, not a range.
        var isWhole = false
        /// The place for its file is being made: no byte of its body has come yet.
        var isMakingPlace = false
        /// What it reads is compared with a digest of its own at its end.
        var isChecking = false
        var isAsking = true
        var isCut = false
        /// It was cut because it brought nothing.
        var isStalled = false
        /// It was cut because it went through a network that is gone: however it ends is no failure.
        var isAbandoned = false
        /// The driver was told to cut it.
        var cutSent = false
        var bytes: ByteCount = 0
        var tickBytes: ByteCount = 0
        /// Bytes of the request that is under way.
        var requestBytes: ByteCount = 0
        var speed: Double = 0
        /// When it last had brought ``Settings/stallBytes`` more, and how many bytes it had brought then.
        var markBytes: ByteCount = 0
        var markTime: Duration
        /// When it was last asked no more.
        var pausedTime: Duration = .zero
        /// When the request that is under way was made.
        var askedTime: Duration = .zero
        var lastByte: Duration
        /// Answers that could not be used, one after the other.
        var misfits = 0
    }

    struct Source: Sendable {
        enum Trust: Hashable, Sendable { case unproven, proven, dropped }
        var trust: Trust
        var identity: FileIdentity?
        /// Samples of what is held matched while it described itself so.
        var sampledAs: FileIdentity?
        /// It has not answered a matching If-Range with the whole file.
        var sendsIfRange = true
        var fromOriginal = true
        /// Where the redirects led stopped working once: go through the original from now on.
        var alwaysOriginal = false
        /// Requests that brought no usable head, one after the other: another source is asked first.
        var failures = 0
    }

    package internal(set) var settings: Settings
    package internal(set) var planner: SegmentPlanner
    /// Of the file as ``primary`` describes it.
    package internal(set) var identity: FileIdentity
    package internal(set) var representation: Representation?
    /// The weakest join between two responses so far; `nil` while everything came in one.
    package internal(set) var weakestJoin: Proof?
    package internal(set) var events: [LocalizedEvent] = []
    /// Bytes of bodies received, those thrown away included.
    package internal(set) var receivedBytes: ByteCount = 0
    package internal(set) var phase: Phase
    /// Times that the file was found changed.
    package internal(set) var changes = 0

    var connections: [ConnectionID: Connection] = [:]
    var sources: [Source]
    var policy: ConnectionCountPolicy
    var retry: RetryPolicy
    /// The source whose file this is: only it can change the file.
    var primary = 0
    /// The finished file that a 304 speaks of.
    package internal(set) var finished: FileIdentity?
    /// The most bytes that were there of this file: less is no progress.
    var mostWritten: ByteCount = 0
    /// When any connection had last brought ``Settings/stallBytes`` more.
    var lastBrought: Duration?
    /// Bytes that came in answers with a wrong digest: at least once, at least twice.
    var spoiled = Array(repeating: RangeSet<ByteCount>(), count: TransferMachine.mostSpoiled - 1)
    /// Some came so once more.
    var isHopeless = false
    /// Why the first source is not used any more.
    var deadEnd: DownloadError?
    var openingIsPlain = false
    var openingAsksWhole = false
    var isFinishing = false
    var failure: DownloadError?
    /// The end was given to the driver.
    var reported = false
    var sawWholeEnd = false
    var lastID = 0
    var lastCheckpoint: Duration?
    var isCheckpointing = false
    /// The file was begun again while a sync was under way: its snapshot is of the old one.
    var isCheckpointStale = false
    var notBefore: Duration = .zero
    /// How long a connection may bring nothing before others take its bytes: longer where answers are slow.
    var patience: Duration = .seconds(2)
    var lastTick: Duration?

    /// Begins with what a journal claims, or with nothing. `finished` are the validators of a finished file that may
    /// be the one asked for.
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

    /// What is held, compared with what this source said before, or, the first time, with length alone.
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

    /// The user's rules, and a digest that the server offered.
    var rules: ResumeRules {
        var rules = settings.rules
        if let representation, !representation.digests.isEmpty { rules.hasDigest = true }
        return rules
    }

    /// Whether what is held is asked of a link that nothing has proven yet: what was known of the file stays known.
    package var isLinkUnproven: Bool { settings.isNewSource && !planner.written.isEmpty }

    package var activeConnections: Int { connections.values.count { $0.hasHead && !$0.isCut } }
    package var openConnections: Int { connections.count }

    /// Whether several connections may fetch parts of this file (RFC 9110 §15.3.7.3).
    package var allowsParts: Bool {
        settings.maxConnections > 1 && joinsParts
    }

    /// Whether what the server says lets parts be joined, whatever the user's limit.
    var joinsParts: Bool {
        guard planner.total != nil, representation?.refusesRanges == false else { return false }
        if identity.strongValidator != nil || rules.hasDigest { return true }
        return settings.rules.trust.allowsUnprovenParts && !settings.rules.trust.strict
    }

    /// The proof that the file has when all is there, before a digest is compared.
    package var proof: Proof {
        if let weakestJoin { return weakestJoin }
        return sawWholeEnd && representation?.endsByClose != true ? .single : .none
    }

    /// Takes the events since the last call.
    package mutating func drainEvents() -> [LocalizedEvent] {
        defer { events.removeAll() }
        return events
    }

    /// Changes one connection, found once.
    @discardableResult
    mutating func change<Value>(_ id: ConnectionID, _ body: (inout Connection) -> Value) -> Value? {
        guard let index = connections.index(forKey: id) else { return nil }
        return body(&connections.values[index])
    }

    /// Connections beside this one that may still deliver.
    func others(than id: ConnectionID) -> Int { connections.count { $0.key != id && !$0.value.isCut } }

    mutating func join(_ proof: Proof) { weakestJoin = min(weakestJoin ?? .strong, proof) }

    /// The strength of joining parts of what the server describes now.
    var partStrength: Proof {
        if identity.strongValidator != nil { return .strong }
        return identity.hasValidator ? .weak : .none
    }

    mutating func note(_ text: Reason) { events.append(.note(text)) }
}
