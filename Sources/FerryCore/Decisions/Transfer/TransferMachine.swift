/// The state machine of one transfer. It decides what responses, ends and failures mean for the transfer, when to sync,
/// and when the transfer is over. Its ``ConnectionPlanner`` plans which connections are open and what each of them
/// fetches.
///
/// Inputs are facts (`headReceived`, `arrived`, `ended`, `tick`); outputs are orders, head actions, commands and
/// events. The machine has no side effects. Time is a `Duration` since a fixed start; randomness is an argument. The
/// engine's `Transfer` calls the machine under one lock.
///
/// A transfer opens with one connection. Its response settles the identity of the file (``ResumePolicy``), and only
/// then may other connections join. When no connection is left, the transfer opens again with one, under the same
/// rules.
package struct TransferMachine: Sendable {
    /// Limits and rules of the user and the manager.
    package struct Settings: Sendable {
        package var maxConnections = DownloadRequest.plain.maxConnections
        /// A connection that receives fewer than ``stallBytes`` in this time, not counting back-pressure, is cancelled.
        package var stallTimeout = DownloadRequest.standardStallTimeout
        package var stallBytes: ByteCount = 1000
        /// A connection that receives fewer bytes in ``stallTimeout`` is replaced, without counting a failed attempt; 0
        /// to accept any speed.
        package var leastBytes: ByteCount = 0
        package var maxRetries: Int? = DownloadRequest.standardMaxRetries
        /// The maximum number of retries while the host refuses connections and has not sent anything; `nil` for
        /// ``maxRetries``.
        package var maxFirstRetries: Int?
        package var maxBytes: ByteCount?
        /// The required size of the file.
        package var expectedBytes: ByteCount?
        /// Whether the file replaces the finished one whose validators make the request conditional.
        package var replacesFinished = false
        /// Whether the bytes are written to an output, from which they cannot be removed again.
        package var isStream = false
        package var rules = ResumeRules()
        /// Whether there is a journal. Without one, all bytes are lost if the process is killed, so checkpoints are pointless.
        package var claims = true
        package var sources = 1
        /// The sources' URLs for messages; empty if their numbers suffice.
        package var sourceNames: [String] = []
        /// Whether the partial content came from a URL other than the first source. The source must then be proven. If it leads
        /// to another file, the transfer ends with a conflict and never restarts.
        package var isNewSource = false
        /// Whether the partial content was moved or is doubtful, so that samples are compared first.
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
        /// Validators of a finished file, which make the request conditional.
        package var unless: FileIdentity?
        /// The index of the source.
        package var source: Int
        /// Whether to request the original URL and follow its redirects, instead of the last redirect target.
        package var fromOriginal: Bool
    }

    /// The next action for a connection.
    package enum Order: Hashable, Sendable {
        case fetch(Fetch)
        /// Compare samples of the partial content with this source, then call ``sampled(_:source:offered:)``,
        /// ``samplingRefused(_:status:source:)`` or ``samplingFailed(_:code:source:on:at:random:)``.
        case prove(source: Int)
        /// Back up the partial content, then call ``restarted()``.
        case restart(Reason)
        /// End the connection, because there is nothing to fetch.
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
        /// Discard the body, call ``ended(_:_:at:random:)`` with ``End/stopped``, then ``next(for:at:)``.
        case drop
        /// Discard the body, call ``ended(_:_:at:random:)`` with ``End/stopped``, then ``left(_:at:)``.
        case leave
    }

    /// An action of the driver outside a connection's task.
    package enum Command: Hashable, Sendable {
        case open(ConnectionID)
        case cut(ConnectionID)
        /// Sync and claim: call ``beginCheckpoint(at:)``, then ``checkpointEnded(_:succeeded:at:)`` or
        /// ``checkpointSkipped()``. After a failed sync, stop all connections first.
        case checkpoint
        /// All bytes are written. May be returned again after ``refuted(_:damaged:)`` or ``cutShort(at:random:)``.
        case finish
        case fail(DownloadError)
    }

    /// The outcome of a connection's request.
    package enum End: Hashable, Sendable {
        /// The body was read to its declared end.
        case complete
        /// Reading was stopped because the segment was done or the connection was cancelled.
        case stopped
        /// No usable response head: refused, timed out, or connection lost. `isRefused` is true if the host refused the
        /// connection.
        case failedBeforeHead(Reason, isTransient: Bool, isRefused: Bool = false)
        /// The connection was lost while the body was read.
        case broken(Reason)
        /// TLS ended without close_notify. Handled like `broken`, unless the body has no declared length and may have
        /// ended here.
        case cutOff(Reason)
        /// The body was read to its declared end but did not match its digest; its written bytes were discarded.
        case spoiled(expected: String, actual: String)
    }

    package enum Phase: Hashable, Sendable {
        /// One connection determines the identity of the file.
        case opening
        /// The identity is settled.
        case running
        /// The partial content cannot be used; the last connection gets ``Order/restart(_:)``.
        case reopening(Reason)
        /// Backing off after a transient failure.
        case waiting(until: Duration)
        /// All bytes are written; the transfer ends when all connections have ended.
        case finishing
        /// The transfer has ended with an error that has not been passed to the driver yet.
        case failing(DownloadError)
        /// The transfer has ended, and the driver has been notified. A digest that does not match opens the transfer again.
        case ended

        /// Whether requests are sent.
        var isActive: Bool { self == .opening || self == .running }

        /// Whether the transfer has ended, even if the driver has not been notified yet.
        var isOver: Bool {
            switch self {
            case .failing, .ended: true
            case .opening, .running, .reopening, .waiting, .finishing: false
            }
        }
    }

    /// The initial settings. Three of them may change and are stored separately: the connection limit, the sources'
    /// names, `isNewSource`.
    private let settings: Settings
    package private(set) var phase = Phase.opening
    package private(set) var file: RemoteFile
    /// The failed attempts, and the record of progress.
    package private(set) var retry: RetryPolicy
    private var connections: ConnectionPlanner
    private var sources: Sources
    private var checkpoints = Checkpoints()
    private var cutOffs = CutOffs()
    /// Whether the host has sent any response in this run.
    private var hasResponse = false
    /// Whether the first source is a new URL that has not been proven to lead to the same file.
    private var isNewSource: Bool
    /// The sources' URLs for messages; empty if their numbers suffice.
    private var sourceNames: [String]
    private var events: [LocalizedEvent] = []
    /// A wait that has not been passed to the driver.
    private var hold: Hold?

    /// A wait for a host that accepts no request before a certain time.
    package struct Hold: Sendable, Hashable {
        package var until: Duration
        package var reason: Reason
    }

    /// Starts with the ranges that a journal claims, or with none. `finished` contains the validators of a finished
    /// file that may be current.
    package init(
        settings: Settings, held: PartialContent? = nil, total: ByteCount? = nil, weakestJoin: Proof? = nil,
        finished: FileIdentity? = nil
    ) {
        self.settings = settings
        let total = held == nil ? nil : total.flatMap { $0 < 0 ? nil : $0 }
        let bytes = SegmentPlanner(
            total: total, claimed: held?.ranges.intersection(RangeSet(0..<(total ?? .max))) ?? RangeSet())
        connections = ConnectionPlanner(
            ConnectionPlanner.Limits(
                maxConnections: settings.maxConnections, stallTimeout: settings.stallTimeout,
                stallBytes: settings.stallBytes, leastBytes: settings.leastBytes), bytes: bytes)
        file = RemoteFile(
            identity: held?.identity ?? FileIdentity(), weakestJoin: weakestJoin, finished: finished,
            isComplete: bytes.isComplete)
        retry = RetryPolicy(maxRetries: settings.maxRetries, memory: settings.memory)
        retry.holds(bytes.writtenBytes)
        sources = Sources(count: settings.sources, isFirstProven: !settings.isNewSource && !settings.doubtsHeld)
        isNewSource = settings.isNewSource
        sourceNames = settings.sourceNames
    }

    /// Returns the partial content with the validators that this source sent earlier, or with only the length if it
    /// sent none.
    private func held(from source: Int) -> PartialContent {
        let known =
            sources[source].identity
            ?? FileIdentity(totalBytes: bytes.total, contentType: file.identity.contentType)
        var held = PartialContent(
            identity: source == sources.primary ? file.identity : known, ranges: bytes.written,
            sampledAs: sources[source].sampledAs)
        held.digests = file.representation?.digests ?? []
        return held
    }

    /// Returns the reference for samples of this source, and the rules for comparing them.
    package func sampleBasis(of source: Int) -> (held: PartialContent, rules: ResumeRules) {
        var held = held(from: source)
        held.identity.totalBytes = bytes.total
        return (held, rules)
    }

    /// The user's rules, with `hasDigest` also set if the server declared a digest.
    package var rules: ResumeRules {
        var rules = settings.rules
        if file.representation?.digests.isEmpty == false { rules.hasDigest = true }
        return rules
    }

    /// Whether partial content is being requested from an unproven new link. The recorded identity must not change
    /// then.
    package var isLinkUnproven: Bool { isNewSource && !bytes.written.isEmpty }

    /// The number of connections that receive a body.
    package var activeConnections: Int { connections.activeCount }
    package var openConnections: Int { connections.count }
    /// The maximum number of connections; read by tests.
    package var maxConnections: Int { connections.maxConnections }

    /// The state of the bytes: written, claimed, or assigned to a connection.
    package var bytes: SegmentPlanner { connections.bytes }
    /// Whether the length of the file is known. Read for each piece, without copying ``bytes``.
    package var hasTotal: Bool { connections.bytes.total != nil }
    /// The number of written bytes. Also read without copying ``bytes``.
    package var writtenBytes: ByteCount { connections.bytes.writtenBytes }
    /// The number of received bytes of response bodies, including discarded ones.
    package var receivedBytes: ByteCount { connections.arrivals.bytes }

    /// Whether the server's validators permit joining parts, regardless of the user's limit.
    private var joinsParts: Bool {
        guard bytes.total != nil, file.representation?.refusesRanges == false else { return false }
        if file.identity.strongValidator != nil || rules.hasDigest { return true }
        return settings.rules.trust.allowsUnprovenParts && !settings.rules.trust.strict
    }

    private var terms: ConnectionPlanner.Terms {
        ConnectionPlanner.Terms(
            isRunning: phase == .running, joinsParts: joinsParts, hasRepresentation: file.representation != nil)
    }

    /// Removes and returns the events since the last call.
    package mutating func drainEvents() -> [LocalizedEvent] {
        defer { events.removeAll() }
        return events
    }

    /// Returns the wait for a host that has begun since the last call; `nil` if there is none, or if it has ended.
    package mutating func takeHold() -> Hold? {
        defer { hold = nil }
        guard case .waiting = phase else { return nil }
        return hold
    }

    /// Enters a phase, unless an error has to be passed to the driver first.
    private mutating func enter(_ next: Phase) {
        if case .failing = phase { return }
        phase = next
    }

    private mutating func report(_ event: LocalizedEvent) { events.append(event) }

    private mutating func note(_ text: Reason) { report(.note(text)) }

    // MARK: Orders

    /// Returns the next order for a connection that ``tick(at:)`` opened or that has ended a request.
    package mutating func next(for id: ConnectionID, at now: Duration) -> Order {
        guard connections[id]?.isCut == false else { return .leave }
        connections.idles(id)
        switch phase {
        case .finishing, .failing, .ended, .waiting: return .leave
        case .reopening(let reason): return connections.count == 1 ? .restart(reason) : .leave
        case .opening: return openingOrder(id, at: now)
        case .running: return runningOrder(id, at: now)
        }
    }

    private mutating func openingOrder(_ id: ConnectionID, at now: Duration) -> Order {
        if let error = sources.refutation { return searchOrder(id, error) }
        guard let source = sources.best else {
            if mayReplaceContent, sources.turnToUncompared() { return .restart(Reason(.noRanges)) }
            end(sources.deadEnd ?? DownloadError(.refused, ErrorPhrase(.noSourceLeft)))
            return .leave
        }
        let isUnproven = mustProve(source)
        if bytes.isComplete, !isUnproven || !settings.doubtsHeld && !file.isExamined {
            enter(.finishing)
            return .leave
        }
        if isUnproven, !bytes.written.isEmpty { return prove(source, on: id) }
        var fetch = Fetch(
            ask: .whole, ifRange: nil, unless: nil, source: source, fromOriginal: sources[source].fromOriginal)
        switch ResumePolicy.opening(held: held(from: source), rules: rules) {
        case .whole:
            fetch.unless = source == 0 ? file.finished : nil
        case .restart(let reason):
            if source != sources.primary {
                drop(source, reason)
                return openingOrder(id, at: now)
            }
            return restartOrEnd(reason, isChange: false) ? .restart(reason) : .leave
        case .goOn(let validator):
            if file.asksWhole { break }
            guard let gap = connections.openingGap() else { return .leave }
            fetch.ask = bytes.total == nil ? .from(gap.lowerBound) : .range(gap)
            fetch.ifRange = sources[source].sendsIfRange ? validator : nil
        }
        return send(fetch, on: id, at: now)
    }

    /// Whether the file of a source that cannot be compared may replace the partial content if no other source continues it. A
    /// digest then shows whether it is the right file.
    private var mayReplaceContent: Bool {
        sources.hasUncompared && settings.rules.hasDigest && !settings.isStream && !isNewSource && !file.isExamined
    }

    private mutating func runningOrder(_ id: ConnectionID, at now: Duration) -> Order {
        guard connections.mayJoin(id, at: now, terms) else { return .leave }
        let canProve = bytes.writtenBytes >= SamplePlan.allBelow
        guard let source = sources.leastUsed(by: connections.sources(besides: id), unproven: canProve) else {
            return .leave
        }
        if mustProve(source) { return prove(source, on: id) }
        guard let range = connections.share(id, at: now, terms) else { return .leave }
        let known = held(from: source).identity
        let fetch = Fetch(
            ask: .range(range), ifRange: sources[source].sendsIfRange ? known.strongValidator : nil, unless: nil,
            source: source, fromOriginal: sources[source].fromOriginal)
        return send(fetch, on: id, at: now)
    }

    /// Whether samples are compared before bytes of the source are joined. A digest shows that bytes are wrong, but not
    /// which source sent them. It makes samples unnecessary only if all bytes come from the primary source.
    private func mustProve(_ source: Int) -> Bool {
        sources[source].trust == .unproven && (!rules.hasDigest || source != sources.primary || isNewSource)
    }

    private mutating func prove(_ source: Int, on id: ConnectionID) -> Order {
        connections.proves(source, on: id)
        return .prove(source: source)
    }

    private mutating func send(_ fetch: Fetch, on id: ConnectionID, at now: Duration) -> Order {
        connections.sends(fetch, on: id, at: now)
        return .fetch(fetch)
    }

    // MARK: Responses

    /// Records a response head that can be judged only with the first bytes of the body; the stall timer starts.
    package mutating func awaitsFirstBytes(on id: ConnectionID, at now: Duration) {
        connections.awaitsFirstBytes(on: id, at: now)
    }

    /// Decides how to continue after the response to a connection's request.
    package mutating func headReceived(
        _ verdict: ResponseVerdict, on id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        guard let fetch = connections.headArrived(on: id, at: now) else { return .leave }
        hasResponse = true
        if case .notModified = verdict, fetch.unless != nil {
            enter(.ended)
            return .unchanged
        }
        return phase == .running
            ? joinRunning(verdict, fetch, id, at: now, random: random)
            : settle(verdict, fetch, id, at: now, random: random)
    }

    /// Judges the first response of an opening by the resume rules.
    private mutating func settle(
        _ verdict: ResponseVerdict, _ fetch: Fetch, _ id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        guard phase == .opening else { return .leave }
        let assessment = ResumePolicy.assess(
            verdict, held: held(from: fetch.source), rules: rules, ifRange: fetch.ifRange != nil)
        switch assessment {
        case .begin(let representation):
            if let error = otherSize(representation.identity.totalBytes) {
                return dropOrEnd(fetch.source, error.reason, error)
            }
            let refusal =
                file.former.flatMap { ReplacementPolicy.refusal(of: representation, insteadOf: $0, rules) }
                ?? fetch.unless.flatMap { self.refusal(of: representation, insteadOf: $0) }
            if let refusal { return deadLink(refusal, 200, fetch) }
            guard acceptOrEnd(representation) else { return .leave }
            take(representation, from: fetch.source)
            connections.readsWhole(on: id, total: representation.identity.totalBytes, isPlaced: false)
            return .begin(representation)
        case .goOn(let range, let representation, let proof):
            if let error = otherSize(representation.identity.totalBytes) {
                return dropOrEnd(fetch.source, error.reason, error)
            }
            let offset = bytes.writtenBytes
            goOn(representation, from: fetch.source, join: proof)
            connections.readsRest(on: id, range)
            report(.resumed(offset: offset, totalBytes: bytes.total, reason: reason(proof)))
            return .read
        case .rewind(let representation, let proof):
            if let error = otherSize(representation.identity.totalBytes) {
                return dropOrEnd(fetch.source, error.reason, error)
            }
            let offset = bytes.writtenBytes
            goOn(representation, from: fetch.source, join: proof)
            connections.limitToSingleConnection()
            connections.readsWhole(on: id, total: representation.identity.totalBytes, isPlaced: true)
            report(
                .resumed(
                    offset: offset, totalBytes: bytes.total,
                    reason: Reason(.readFromStart, reason(proof))))
            return .read
        case .askPlainly:
            sources[fetch.source].sendsIfRange = false
            note(Reason(.ifRangeIgnored))
            return .drop
        case .askWhole:
            file.asksWhole = true
            return .drop
        case .sample(let reason):
            // Bytes written to an output cannot be read again.
            if settings.isStream { return restart(reason, nil, fetch, id, isChange: file.identity.hasValidator) }
            note(Reason(.comparingSamples, reason))
            sources[fetch.source].trust = .unproven
            return .drop
        case .changed(let reason, let new): return restart(reason, new, fetch, id, isChange: true)
        case .restart(let reason, let new): return restart(reason, new, fetch, id, isChange: false)
        case .complete(let total):
            connections.learn(total: total)
            file.identity.totalBytes = total
            file.join(fetch.source == sources.primary ? .strong : .sampled)
            enter(.finishing)
            return .leave
        case .deadLink(let reason, let status): return deadLink(reason, status, fetch)
        case .busy(let status, let wish):
            sources[fetch.source].failures += 1
            wait(
                Reason(.serverAnswered, "\(status)"), wish: wish, code: .refused, at: now, random: random)
            return .leave
        case .unusable(let reason): return unusable(reason, fetch, id)
        case .refused(let reason):
            return retreat(fetch, reason) ?? dropOrEnd(fetch.source, reason, DownloadError(.refused, reason))
        }
    }

    /// Judges a response while running: it must contain the settled representation.
    private mutating func joinRunning(
        _ verdict: ResponseVerdict, _ fetch: Fetch, _ id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        var known = held(from: fetch.source)
        if known.isEmpty { known.ranges = RangeSet(0..<1) }
        switch ResumePolicy.assess(verdict, held: known, rules: rules, ifRange: fetch.ifRange != nil) {
        case .goOn(let range, let representation, let proof):
            if sources[fetch.source].identity == nil { sources[fetch.source].identity = representation.identity }
            sources[fetch.source].fromOriginal = sources[fetch.source].alwaysOriginal
            file.claim = nil
            return read(range, fetch, id, join: proof)
        case .askWhole:
            return dismiss(Reason(.otherOnOneConnection), fetch, id, at: now, random: random)
        case .begin, .rewind, .askPlainly:
            // The server ignores Range on this connection; the other connections continue.
            if fetch.ifRange != nil && sources[fetch.source].sendsIfRange {
                sources[fetch.source].sendsIfRange = false
                return .drop
            }
            return stepBack(fetch, "the server ignores ranges")
        case .sample(let reason), .restart(let reason, _):
            let allows = settings.rules.trust.allowsUnprovenParts && !settings.rules.trust.strict
            if allows, fetch.source == sources.primary, case .part(let range, _) = verdict {
                return read(range, fetch, id, join: file.partStrength)
            }
            return stepBack(fetch, reason)
        case .changed(let reason, _):
            let claim = verdict.representation.flatMap { ReplacementPolicy.claim($0, against: known) }
            guard fetch.source == sources.primary, connections.others(than: id) > 0, let claim else {
                return dismiss(reason, fetch, id, at: now, random: random)
            }
            if file.claim == claim {
                changed(reason)
                return .leave
            }
            file.claim = claim
            let isHopeless = connections.countMisfit(on: id) > 2
            return isHopeless ? dismiss(reason, fetch, id, at: now, random: random) : .drop
        case .busy(let status, let wish):
            objected(Reason(.serverAnswered, "\(status)"), id, wish: wish, at: now, random: random)
            return .leave
        case .deadLink(let reason, let status):
            if let action = retreat(fetch, reason) { return action }
            guard connections.others(than: id) > 0 else { return deadLink(reason, status, fetch) }
            // Some servers refuse one of several connections by sending a document in place of the file.
            return status < 300
                ? dismiss(reason, fetch, id, at: now, random: random) : stepBack(fetch, reason)
        case .unusable(let reason), .refused(let reason):
            if case .refused = verdict, let action = retreat(fetch, reason) { return action }
            return connections.countMisfit(on: id) < 2 ? .drop : stepBack(fetch, reason)
        case .complete: return .leave
        }
    }

    /// Reads a range of the settled representation.
    private mutating func read(
        _ range: Range<ByteCount>, _ fetch: Fetch, _ id: ConnectionID, join proof: Proof
    ) -> HeadAction {
        if fetch.source == sources.primary {
            file.join(proof)
        } else {
            file.join(min(proof, sources[fetch.source].trust == .proven ? .sampled : .none))
        }
        connections.readsRange(on: id, to: range.upperBound)
        return .read
    }

    /// Returns the reason why a response to a conditional request is not a new version of the finished file.
    private func refusal(of representation: Representation, insteadOf finished: FileIdentity) -> Reason? {
        if let reason = ReplacementPolicy.inconsistency(of: representation, with: finished, rules) { return reason }
        // A known size is evidence of its own.
        guard settings.replacesFinished, settings.expectedBytes == nil else { return nil }
        return ReplacementPolicy.refusal(of: representation, replacing: finished, rules)
    }

    /// Returns the error if a total is known and differs from the expected one.
    private func otherSize(_ total: ByteCount?) -> DownloadError? {
        guard let total, let expected = settings.expectedBytes, total != expected else { return nil }
        return DownloadError(.checksum, ErrorPhrase(.otherSize, "\(total)", "\(expected)"))
    }

    /// Ends the download with an error if the representation is not permitted. Returns whether it is permitted.
    private mutating func acceptOrEnd(_ representation: Representation) -> Bool {
        if let error = otherSize(representation.identity.totalBytes) {
            end(error)
            return false
        }
        if let most = settings.maxBytes, let total = representation.identity.totalBytes, total > most {
            end(DownloadError(.tooLarge, ErrorPhrase(.fileTooLarge, "\(total)", "\(most)")))
            return false
        }
        if settings.rules.trust.strict, representation.endsByClose, !settings.rules.hasDigest,
            representation.digests.isEmpty
        {
            end(DownloadError(.unproven, ErrorPhrase(.noLength)))
            return false
        }
        return true
    }

    /// Selects this representation for the download, without partial content.
    private mutating func take(_ representation: Representation, from source: Int) {
        file.begin(representation)
        sources.primary = source
        replacePlanner(total: representation.identity.totalBytes)
        sources.doubt(except: source)
        settle(on: source, representation)
    }

    /// Continues the partial content with this representation.
    private mutating func goOn(_ representation: Representation, from source: Int, join proof: Proof) {
        file.goOn(representation)
        if source == sources.primary {
            file.adopt(representation.identity)
            isNewSource = false
        }
        if bytes.total == nil, let total = representation.identity.totalBytes { connections.learn(total: total) }
        file.join(source == sources.primary ? proof : min(proof, sources[source].trust == .proven ? .sampled : .none))
        settle(on: source, representation)
    }

    private mutating func settle(on source: Int, _ representation: Representation) {
        sources.settle(on: source, representation.identity)
        file.asksWhole = false
        enter(.running)
        connections.settled(terms)
    }

    private mutating func restart(
        _ reason: Reason, _ representation: Representation?, _ fetch: Fetch, _ id: ConnectionID, isChange: Bool
    ) -> HeadAction {
        if fetch.source != sources.primary {
            return dropOrEnd(fetch.source, reason, DownloadError(.conflict, reason, recovery: .needsUser))
        }
        guard restartOrEnd(reason, isChange: isChange) else { return .leave }
        guard let representation else {
            enter(.reopening(reason))
            return .leave
        }
        guard acceptOrEnd(representation) else { return .leave }
        take(representation, from: fetch.source)
        connections.readsWhole(on: id, total: representation.identity.totalBytes, isPlaced: false)
        return .restartWith(reason, representation)
    }

    private func reason(_ proof: Proof) -> Reason {
        switch proof {
        case .strong:
            file.identity.strongTag.map { Reason(.tagMatched, "\($0)") }
                ?? Reason(.dateMatched, file.identity.lastModified ?? "")
        case .sampled: Reason(.samplesMatched)
        case .digest, .single: Reason(.sameFile)
        case .weak: Reason(.weakMatched)
        case .none: Reason(.noneMatched)
        }
    }

    // MARK: Refusals

    // Unusable responses, and what each of them ends: its connection, a source, the partial content, or the download.

    /// Counts a change of the file. Ends the download if changes are not permitted or there were too many. Returns
    /// whether to restart at zero.
    private mutating func restartOrEnd(_ reason: Reason, isChange: Bool) -> Bool {
        if isNewSource, !bytes.written.isEmpty {
            end(
                DownloadError(
                    .conflict, ErrorPhrase(.otherFile, reason), suggestion: ErrorPhrase(.giveLinkOfBegun),
                    recovery: .needsUser))
            return false
        }
        if settings.isStream, !bytes.written.isEmpty {
            let (code, key): (DownloadError.Code, ErrorPhrase.Key) =
                isChange ? (.remoteChanged, .changedInStream) : (.notResumable, .streamBroke)
            end(DownloadError(code, ErrorPhrase(key, reason)))
            return false
        }
        // With a digest, fetching everything again is safe, unless the file has changed and so cannot match.
        if settings.rules.trust.failsOnChange, isChange || !rules.hasDigest {
            end(
                DownloadError(
                    isChange ? .remoteChanged : .unproven, ErrorPhrase(isChange ? .changed : .cannotGoOn, reason),
                    suggestion: ErrorPhrase(.orRestart)))
            return false
        }
        // An unproven restart is limited by the number of attempts instead, because refetched bytes do not count as
        // progress.
        guard isChange else { return true }
        sources.spoiled.reset()
        retry.fileChanged()
        if retry.memory.changes > 3 {
            end(DownloadError(.remoteChanged, ErrorPhrase(.keepsChanging, reason), recovery: .needsUser))
            return false
        }
        return true
    }

    private mutating func changed(_ reason: Reason) {
        guard restartOrEnd(reason, isChange: true) else { return }
        enter(.reopening(reason))
        connections.cutAll()
    }

    private mutating func deadLink(_ reason: Reason, _ status: Int, _ fetch: Fetch) -> HeadAction {
        if let action = retreat(fetch, reason) { return action }
        return dropOrEnd(
            fetch.source, reason, .deadLink(reason, status: status, holdsBytes: !bytes.written.isEmpty))
    }

    /// Returns to the original URL, once per source, because the redirect target is dead.
    private mutating func retreat(_ fetch: Fetch, _ reason: Reason) -> HeadAction? {
        guard !fetch.fromOriginal else { return nil }
        note(Reason(.originalLink, reason))
        sources[fetch.source].fromOriginal = true
        sources[fetch.source].alwaysOriginal = true
        return .drop
    }

    /// Drops a useless source, or ends the download if that source was the last.
    @discardableResult
    private mutating func dropOrEnd(_ source: Int, _ reason: Reason, _ error: DownloadError) -> HeadAction {
        guard sources.hasOther(than: source) || mayReplaceContent else {
            end(sources.deadEnd ?? error)
            return .leave
        }
        if source == sources.primary { sources.deadEnd = error }
        drop(source, reason)
        return .drop
    }

    private mutating func drop(_ source: Int, _ reason: Reason) {
        sources[source].trust = .dropped
        let name =
            sourceNames.indices.contains(source) ? "\(source) (\(sourceNames[source]))" : "\(source)"
        note(source == 0 ? Reason(.onWithMirror, reason) : Reason(.mirrorDropped, name, reason))
    }

    /// Handles an unusable response while running: drops the mirror, or continues with one connection.
    private mutating func stepBack(_ fetch: Fetch, _ reason: Reason) -> HeadAction {
        if fetch.source != sources.primary {
            drop(fetch.source, reason)
            return .drop
        }
        if !connections.isSingle { note(Reason(.onWithOne, reason)) }
        connections.limitToSingleConnection()
        return .leave
    }

    /// Handles a response that does not contain this file and does not prove that the file has changed. Its connection
    /// ends as if the server had refused it, and the others continue. If there are no others, the next opening decides.
    private mutating func dismiss(
        _ reason: Reason, _ fetch: Fetch, _ id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        if fetch.source != sources.primary { return stepBack(fetch, reason) }
        if connections.others(than: id) > 0 { objected(reason, id, wish: nil, at: now, random: random) }
        return .leave
    }

    private mutating func unusable(_ reason: Reason, _ fetch: Fetch, _ id: ConnectionID) -> HeadAction {
        note(Reason(.askingAgain, reason))
        switch connections.countMisfit(on: id) {
        case 1: return .drop
        case 2:
            file.asksWhole = true
            connections.limitToSingleConnection()
            return .drop
        default:
            connections.forgetMisfits(of: id)
            file.asksWhole = false
            return dropOrEnd(
                fetch.source, reason, DownloadError(.refused, ErrorPhrase(.unusableAnswers, reason)))
        }
    }

    // MARK: Bytes and the ends of requests

    /// Places the next `count` bytes of a connection's body. Call again for the rest if the placement covers fewer.
    package mutating func place(_ count: ByteCount, on id: ConnectionID) -> SegmentPlanner.Placement {
        connections.place(count, on: id)
    }

    /// Records received bytes. Called once for each chunk, before the chunk is placed.
    package mutating func arrived(_ count: ByteCount, on id: ConnectionID, at now: Duration) {
        if let source = connections.arrived(count, on: id, at: now) { sources.delivers(source) }
    }

    /// Records that the write of ``place(_:on:)`` has returned. Returns whether a reader waits for one of the written
    /// bytes.
    @discardableResult
    package mutating func wrote(on id: ConnectionID) -> Bool {
        let range = connections.wrote(on: id)
        if sources.count > 1, let range, let source = connections[id]?.source { sources.brought(range, by: source) }
        // Progress requires as many bytes as prevent a stall; otherwise a server that sends very slowly would be
        // retried forever.
        retry.progressed(to: connections.bytes.writtenBytes, worth: settings.stallBytes)
        if let most = settings.maxBytes, connections.bytes.writtenBytes > most {
            end(DownloadError(.tooLarge, ErrorPhrase(.fileLargerThan, "\(most)")))
        }
        // A body without a declared length may be endless.
        if let expected = settings.expectedBytes, connections.bytes.writtenBytes > expected {
            end(DownloadError(.checksum, ErrorPhrase(.fileLargerThan, "\(expected)")))
        }
        guard let range, !connections.readers.isEmpty else { return false }
        return connections.readers.areAwaiting(range)
    }

    package mutating func writeFailed(on id: ConnectionID) { connections.writeFailed(on: id) }

    /// Resumes reading, and with it the stall timer. Returns `false` if the connection should be cancelled instead,
    /// because its segment is done and the server is sending bytes that belong to other segments.
    ///
    /// - Parameter limited: The time for which reading was suspended because of a rate limit.
    package mutating func asks(_ id: ConnectionID, at now: Duration, limited: Duration = .zero) -> Bool {
        connections.asks(id, at: now, limited: limited)
    }

    /// Counts received bytes that are not stored, such as samples.
    package mutating func receivedElsewhere(_ count: ByteCount) { connections.receivedElsewhere(count) }

    /// Whether reading is suspended because too many bytes would be lost if the process were killed.
    package var mustWaitForCheckpoint: Bool {
        settings.claims && connections.bytes.total != nil
            && connections.bytes.unclaimedBytes >= Self.mostUnclaimed
    }

    /// The number of bytes below which a broken connection counts as refused by the server.
    private static let worthAnAnswer: ByteCount = 64 << 10

    /// Records the end of a request. The driver then calls ``next(for:at:)``, which returns the connection's next order.
    package mutating func ended(_ id: ConnectionID, _ end: End, at now: Duration, random: Double) {
        guard let (connection, segment) = connections.ended(id, isComplete: end == .complete) else { return }
        switch (end, connection.cut?.reason) {
        case (.complete, _):
            connections.forgetMisfits(of: id)
            guard let body = connection.body, let segment else { break }
            if bytes.total == nil {
                if body.kind == .whole { sawEnd(at: segment.position, of: connection.source) }
            } else if segment.remaining > 0, !bytes.isComplete {
                broke(Reason(.endedEarly), id, connection, at: now, random: random)
            }
        case (_, .abandoned?), (.stopped, .superseded?), (.stopped, nil): break
        case (.stopped, .stalled?): stalled(id, connection, at: now, random: random)
        case (.failedBeforeHead(_, isTransient: false, _), _), (.failedBeforeHead, .superseded?): break
        case (.failedBeforeHead(let reason, isTransient: true, let isRefused), _):
            sources[connection.source].failures += 1
            let isUnknown = isRefused && !hasResponse && retry.memory.mostBytes == 0
            failed(reason, id, most: isUnknown ? settings.maxFirstRetries : nil, at: now, random: random)
        case (.cutOff(let reason), _):
            if connection.body?.kind == .whole, let position = segment?.position, noteCutOff(at: position) {
                sawEnd(
                    at: position, of: connection.source, cutOff: settings.expectedBytes == nil ? reason : nil)
            } else {
                broke(reason, id, connection, at: now, random: random)
            }
        case (.broken(let reason), _): broke(reason, id, connection, at: now, random: random)
        case (.spoiled(let expected, let actual), _): wasSpoiled(expected, actual, id, at: now, random: random)
        }
        guard bytes.isComplete, phase == .running || phase == .finishing, !connections.isChecking else { return }
        // A stream that was stopped exactly at its declared end is also complete.
        if connection.body != nil { file.reachedEnd() }
        enter(.finishing)
    }

    /// Handles a stalled body. If no other connection received data in the same interval, the server itself has
    /// stalled: cancels all connections and counts one failure.
    private mutating func stalled(
        _ id: ConnectionID, _ connection: ConnectionPlanner.Connection, at now: Duration, random: Double
    ) {
        guard phase.isActive,
            now - (connections.arrivals.lastBrought ?? connection.markTime) >= settings.stallTimeout,
            // Connections under back-pressure wait for the driver, not for the server.
            connections.areAsking(besides: id)
        else { return }
        connections.cutAll(besides: id)
        wait(Reason(.stalled), wish: nil, code: .network, at: now, random: random)
    }

    /// Records that a body without a declared length, and so the file, has ended at `position`.
    ///
    /// - Parameter cutOff: The reason why the body was cut off, if only a digest can show that the file ends there;
    ///   otherwise `nil`.
    private mutating func sawEnd(at position: ByteCount, of source: Int, cutOff: Reason? = nil) {
        if let last = bytes.written.ranges.last, last.upperBound > position {
            let reason = Reason(.shrank, "\(position)")
            // A digest decides whether the file ends where bodies are cut off.
            if cutOff != nil { return changed(reason) }
            // Held bytes are read again only under their own validator, so a body that is shorter proves nothing
            // (``IdentityComparison/inconsistent(_:)``).
            dropOrEnd(source, reason, .deadLink(reason, status: 200, holdsBytes: true))
            return
        }
        if let error = otherSize(position) { return end(error) }
        connections.learn(total: position)
        cutOffs.assumed = cutOff
        if cutOff == nil { file.identity.totalBytes = position }
    }

    /// Records where a body was cut off. Returns whether the file may end there. It may if the body has no declared
    /// length and the position is the requested size. If no size was requested, two consecutive bodies must have been
    /// cut off there, and a digest decides.
    private mutating func noteCutOff(at position: ByteCount) -> Bool {
        guard bytes.total == nil, file.representation?.endsByClose == true, phase.isActive else { return false }
        if let expected = settings.expectedBytes { return expected == position }
        defer { cutOffs.position = position }
        return rules.hasDigest && cutOffs.position == position
    }

    /// The length of the file, unless it is only assumed.
    package var provenTotal: ByteCount? { cutOffs.assumed == nil ? bytes.total : nil }

    /// Records that the complete file matches its digest, so that it ends at the assumed position.
    package mutating func provedEnd() {
        if cutOffs.assumed != nil { file.identity.totalBytes = bytes.total }
        cutOffs.assumed = nil
    }

    /// Records that the complete file does not match its digest. If its end was only assumed, the connection was merely
    /// lost there: backs off, and returns the forgotten ranges, which are withheld until ``allow(_:)``. Otherwise
    /// returns `nil`.
    ///
    /// Two whole bodies were cut off at the same byte, so the server ignores ranges and sends all bytes again. Any of
    /// them may be wrong, so all are forgotten, except those of an output, which cannot be removed.
    package mutating func cutShort(at now: Duration, random: Double) -> RangeSet<ByteCount>? {
        guard let reason = cutOffs.assumed else { return nil }
        cutOffs.assumed = nil
        connections.forgetTotal()
        let forgotten = settings.isStream ? RangeSet() : bytes.written
        connections.forget(forgotten)
        sources.forgetLent()
        if sources.hasPrimary { sources[sources.primary].failures += 1 }
        enter(.opening)
        wait(Reason(.cutShort, reason), wish: nil, code: .network, at: now, random: random)
        return forgotten
    }

    private mutating func failed(
        _ reason: Reason, _ id: ConnectionID, most: Int? = nil, at now: Duration, random: Double
    ) {
        guard phase.isActive else { return }
        if phase == .running, connections.others(than: id) > 0 {
            objected(reason, id, wish: nil, at: now, random: random)
        } else {
            wait(reason, wish: nil, code: .network, most: most, at: now, random: random)
        }
    }

    private mutating func broke(
        _ reason: Reason, _ id: ConnectionID, _ connection: ConnectionPlanner.Connection, at now: Duration,
        random: Double
    ) {
        guard phase.isActive, !bytes.isComplete else { return }
        if connection.body?.bytes ?? 0 < Self.worthAnAnswer { return failed(reason, id, at: now, random: random) }
        guard connections.others(than: id) > 0 else {
            return wait(reason, wish: nil, code: .network, at: now, random: random)
        }
        note(Reason(.connectionBroke, reason))
        connections.cut(id)
        connections.delay(until: now + .milliseconds(200))
    }

    /// Removes a connection after its task has ended.
    package mutating func left(_ id: ConnectionID, at now: Duration) {
        connections.left(id)
        guard connections.isEmpty, phase == .running || phase == .finishing, !bytes.isComplete else { return }
        // The next connection settles the identity again.
        enter(.opening)
    }

    /// Starts without partial content, because it was backed up.
    package mutating func restarted() {
        replacePlanner(total: nil)
        file.forget()
        sources.restart()
        connections.resetCount()
        enter(.opening)
    }

    private mutating func replacePlanner(total: ByteCount?) {
        cutOffs.assumed = nil
        connections.replaceBytes(by: SegmentPlanner(total: total))
        sources.forgetLent()
        checkpoints.replaceFile()
    }

    // MARK: Samples

    /// Records the comparison of samples with a source that sent the validators `offered`.
    package mutating func sampled(_ outcome: SamplePlan.Outcome, source: Int, offered: FileIdentity?) {
        switch outcome {
        case .equal:
            sources[source].trust = .proven
            sources[source].sampledAs = offered
            guard source == sources.primary else {
                sources[source].identity = offered
                return note(Reason(.mirrorMatched, "\(source)"))
            }
            if let offered { file.adopt(offered) }
            if bytes.total == nil, let total = file.identity.totalBytes { connections.learn(total: total) }
            isNewSource = false
            note(Reason(.samplesMatched))
            file.join(.sampled)
        case .different, .inconclusive:
            let isChange = outcome == .different
            let reason = if case .inconclusive(let reason) = outcome { reason } else { Reason(.samplesDiffer) }
            guard source == sources.primary else {
                sources[source].isRival = isChange
                sources[source].sendsOnlyWhole = reason == Reason(.noRanges)
                return drop(source, reason)
            }
            if file.isExamined { return leaveExamined() }
            if !isChange, rules.hasDigest, !settings.doubtsHeld {
                // The complete file is verified with the digest.
                sources[source].trust = .proven
                return
            }
            guard restartOrEnd(reason, isChange: isChange) else { return }
            sources[source].trust = .proven
            enter(.reopening(reason))
        }
    }

    /// Records that the sampled source has no file to compare: its link is dead or, if `status` is `nil`, it refuses
    /// the request.
    package mutating func samplingRefused(_ reason: Reason, status: Int?, source: Int) {
        let error =
            status.map { DownloadError.deadLink(reason, status: $0, holdsBytes: !bytes.written.isEmpty) }
            ?? DownloadError(.refused, reason)
        dropOrEnd(source, reason, error)
    }

    /// Records that the sampling connection failed.
    package mutating func samplingFailed(
        _ reason: Reason, code: DownloadError.Code, source: Int, on id: ConnectionID, at now: Duration, random: Double
    ) {
        if connections[id]?.isCut != false { return }
        if source != sources.primary, sources.hasOther(than: source) {
            drop(source, reason)
        } else {
            wait(reason, wish: nil, code: code, at: now, random: random)
        }
    }

    // MARK: Waiting and giving up

    /// Ends the download with an error; partial content is kept.
    package mutating func end(_ error: DownloadError) {
        guard !phase.isOver else { return }
        enter(.failing(error))
        connections.cutAll()
    }

    /// Drops the source of a connection because a retry would give the same result. Returns false if there is no other
    /// source.
    package mutating func failedForGood(_ id: ConnectionID, _ reason: Reason) -> Bool {
        guard let source = connections[id]?.source, sources.hasOther(than: source) else { return false }
        drop(source, reason)
        connections.release(id)
        return true
    }

    /// Backs off or gives up, because no connection is usable.
    ///
    /// - Parameter most: The maximum number of attempts, if it is less than the settings' maximum.
    private mutating func wait(
        _ reason: Reason, wish: Duration?, code: DownloadError.Code, most: Int? = nil, at now: Duration, random: Double
    ) {
        switch retry.failed(wish: wish, most: most, random: random) {
        case .retry(let delay, let attempt):
            enter(.waiting(until: now + delay))
            report(.retrying(attempt: attempt, delay: delay, reason: reason))
        case .giveUp:
            end(
                DownloadError(
                    code,
                    retry.attempts == 1
                        ? ErrorPhrase(.gaveUpOnce, reason) : ErrorPhrase(.gaveUp, "\(retry.attempts)", reason),
                    suggestion: anotherRun,
                    recovery: .transient(retryAfter: wish)))
        }
    }

    /// A suggestion that states what another run would do with the partial content; `nil` if there is none.
    private var anotherRun: ErrorPhrase? {
        switch ResumePolicy.opening(held: held(from: sources.primary), rules: rules) {
        case .whole: nil
        case .restart(let reason): ErrorPhrase(.runAnew, reason)
        case .goOn: ErrorPhrase(.runAgain)
        }
    }

    /// Handles the server's refusal of one of several connections: that connection ends, the others continue.
    private mutating func objected(
        _ reason: Reason, _ id: ConnectionID, wish: Duration?, at now: Duration, random: Double
    ) {
        // Connections without a response are counted as working: each later refusal lowers the ceiling by one.
        let working = connections.others(than: id)
        guard working > 0 else {
            return wait(reason, wish: wish, code: .refused, at: now, random: random)
        }
        connections.cut(id)
        connections.objected(working: working)
        // Several simultaneous refusals are reported once, with the last one, because the number is known only then.
        if !connections.hasNew(besides: id) {
            note(working == 1 ? Reason(.oneLeft, reason) : Reason(.severalLeft, reason, "\(working)"))
        }
        connections.delay(until: now + max(.milliseconds(500), min(wish ?? .zero, RetryAfter.longest)))
    }

    // MARK: Wrong bytes

    // A complete file may not match its digest although another source has the correct bytes. First, the bytes of
    // mirrors are fetched again from the primary source. If that does not help, or there are none, a source whose
    // samples differ from the file becomes the primary one, and the download starts again with it. If there is none, sources
    // that cannot be compared, because they send no ranges, are fetched whole, one after the other. Each step drops a
    // source permanently. Sources with equal samples are not tried, because their file would be the same.

    /// Records that the complete file does not match its digest. Returns the forgotten ranges, which are withheld until
    /// ``allow(_:)``; `nil` if no other source is left, so that the driver ends the download with the error.
    ///
    /// - Parameter damaged: The pieces that do not match their digests; empty if they are unknown.
    package mutating func refuted(
        _ error: DownloadError, damaged: RangeSet<ByteCount> = RangeSet()
    ) -> RangeSet<ByteCount>? {
        if !damaged.isEmpty { return fetchAgain(damaged, after: error) }
        let lenders = sources.lent.keys.sorted()
        var doubtful = RangeSet<ByteCount>()
        if !lenders.isEmpty, sources.hasPrimary {
            for ranges in sources.lent.values { doubtful.formUnion(ranges) }
            for source in lenders where sources[source].trust != .dropped { drop(source, Reason(.digestRefuted)) }
            sources.forgetLent()
            connections.forget(doubtful)
        } else {
            return search(after: error)
        }
        enter(.opening)
        return doubtful
    }

    /// Begins the search for a source with another file. Returns no ranges, or `nil` if there is no source to try.
    private mutating func search(after error: DownloadError) -> RangeSet<ByteCount>? {
        guard sources.untried != nil || settings.rules.hasDigest && sources.hasUncompared else { return nil }
        sources.spoiled.reset()
        sources.refutation = error
        enter(.opening)
        return RangeSet()
    }

    /// Forgets damaged bytes, which are fetched again. Once this is hopeless, another source continues or, if none can,
    /// replaces the file. Returns `nil` if there is no such source.
    ///
    /// Mirrors that sent some of them are dropped. The primary source may send the correct bytes next time.
    private mutating func fetchAgain(
        _ damaged: RangeSet<ByteCount>, after error: DownloadError
    ) -> RangeSet<ByteCount>? {
        var suspects = sources.lent.keys.sorted().filter { source in
            sources.lent[source]?.isDisjoint(damaged) == false && sources[source].trust != .dropped
                && sources.hasOther(than: source)
        }
        if suspects.isEmpty {
            sources.spoiled.add(damaged)
            if sources.spoiled.isHopeless {
                guard sources.hasPrimary, sources.hasOther(than: sources.primary) else { return search(after: error) }
                suspects = [sources.primary]
                sources.deadEnd = error
                sources.spoiled.reset()
            }
        }
        for source in suspects { drop(source, Reason(.digestRefuted)) }
        sources.forgetLent(damaged)
        connections.forget(damaged)
        enter(.opening)
        return damaged
    }

    /// Returns the next order in the search for a source with another file.
    private mutating func searchOrder(_ id: ConnectionID, _ error: DownloadError) -> Order {
        let refuted = sources.primary
        let isTurned =
            sources.turnToRival()
            || sources.untried == nil && settings.rules.hasDigest && sources.turnToUncompared()
        if isTurned {
            drop(refuted, Reason(.digestRefuted))
            file.disown()
            return .restart(Reason(.digestRefuted))
        }
        if let source = sources.untried { return prove(source, on: id) }
        sources.refutation = nil
        end(error)
        return .leave
    }

    /// Records that the response of this connection will be verified with its digest (RFC 9530 Content-Digest). The file is not
    /// finished before the verification.
    package mutating func checks(_ id: ConnectionID) { connections.checks(id) }

    /// Discards the written bytes of a connection whose response did not match its digest.
    ///
    /// The ranges are withheld until ``allow(_:)``; then the connection ends with ``End/spoiled(expected:actual:)``.
    package mutating func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        // A connection that was cancelled or released in the meantime may have written to a previous file.
        guard bytes.segments[id] != nil else { return }
        connections.forget(ranges)
        sources.spoiled.add(ranges)
    }

    /// Whether only the file's own digest is used, because the server's Content-Digest was wrong too often.
    package var distrustsMessageDigests: Bool { sources.spoiled.distrustsMessageDigests }

    /// Releases forgotten ranges for fetching, because the journal no longer claims any of them.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { connections.allow(ranges) }

    private mutating func wasSpoiled(
        _ expected: String, _ actual: String, _ id: ConnectionID, at now: Duration, random: Double
    ) {
        guard phase.isActive else { return }
        let phrase = ErrorPhrase(.wrongMessageDigest, expected, actual)
        let reason = Reason(.wrongMessageDigest, expected, actual)
        if sources.spoiled.isHopeless, rules.hasDigest {
            if sources.spoiled.distrustMessageDigests() { note(Reason(.contentDigestsLeft)) }
        } else if sources.spoiled.isHopeless {
            if failedForGood(id, reason) {
                sources.spoiled.reset()
                return
            }
            return end(DownloadError(.checksum, phrase, suggestion: ErrorPhrase(.giveOwnChecksum)))
        }
        guard connections.others(than: id) > 0 else {
            return wait(reason, wish: nil, code: .checksum, at: now, random: random)
        }
        note(Reason(.partFetchedAgain, reason))
        connections.cut(id)
        connections.delay(until: now + .milliseconds(200))
    }

    // MARK: Checkpoints

    /// The number of unclaimed bytes that trigger a checkpoint.
    private static let checkpointBytes: ByteCount = 32 << 20
    /// The number of unclaimed bytes at which reading is suspended.
    private static let mostUnclaimed: ByteCount = 64 << 20
    /// The rate in bytes per second below which checkpoints are less frequent.
    private static let slowRate = 1_000_000.0

    /// Whether no checkpoint is running and a later run could use a claim.
    private var mayCheckpoint: Bool {
        checkpoints.isIdle && (connections.bytes.total != nil || file.identity.hasValidator)
    }

    /// Whether the driver should tick at once instead of at the next interval, to open connections or to sync: if the disk were
    /// idle until then, reading would be suspended at ``mostUnclaimed``.
    package var wantsTick: Bool {
        connections.areUrgent
            || settings.claims && mayCheckpoint && connections.bytes.unclaimedBytes >= Self.checkpointBytes
    }

    /// A checkpoint is due every second or 32 MiB, whichever comes first; below 1 MB/s, every ten seconds.
    private func isCheckpointDue(at now: Duration) -> Bool {
        guard mayCheckpoint else { return false }
        let unclaimed = bytes.unclaimedBytes
        guard unclaimed > 0 else { return false }
        if unclaimed >= Self.checkpointBytes { return true }
        let speed = connections.speed
        return checkpoints.elapsed(at: now) >= (speed < Self.slowRate ? .seconds(10) : .seconds(1))
    }

    /// Begins a sync; returns the ranges that it covers.
    package mutating func beginCheckpoint(at now: Duration) -> RangeSet<ByteCount> {
        checkpoints.begin(at: now)
        return bytes.snapshot()
    }

    /// Ends a sync: claims the snapshot if it succeeded.
    ///
    /// After a failed sync, all unclaimed bytes are discarded; the driver must have cancelled all connections before.
    package mutating func checkpointEnded(
        _ snapshot: RangeSet<ByteCount>, succeeded: Bool, at now: Duration
    ) {
        guard checkpoints.end() else { return }
        guard !succeeded else { return connections.claim(snapshot) }
        connections.forgetUnclaimed()
        // The file was complete before the sync failed, but now has bytes to fetch again.
        if phase == .finishing, !bytes.isComplete { enter(file.representation == nil ? .opening : .running) }
    }

    /// Ends a checkpoint that had nothing to sync.
    package mutating func checkpointSkipped() { _ = checkpoints.end() }

    // MARK: Ticks

    /// The interval between two ticks.
    package static let tickInterval: Duration = .milliseconds(100)

    /// Returns the commands that are due. Called about every ``tickInterval``, and when a connection or checkpoint has
    /// ended.
    package mutating func tick(at now: Duration) -> [Command] {
        if case .failing(let error) = phase {
            phase = .ended
            return connections.ids.map { .cut($0) } + [.fail(error)]
        }
        guard phase != .ended else { return [] }
        checkpoints.watch(from: now)
        var (commands, cut) = connections.watch(at: now, terms)
        for _ in 0..<cut.stalled {
            let seconds = "\(settings.stallTimeout)".prefix { $0 != " " }
            note(Reason(.connectionStalled, "\(settings.stallBytes)", ErrorPhrase(.seconds, String(seconds))))
        }
        for _ in 0..<cut.slow {
            let least = Double(settings.leastBytes) / settings.stallTimeout.seconds
            note(Reason(.connectionSlow, ByteText.rate(least)))
        }
        let isThere = phase == .running && bytes.isComplete && !connections.isChecking
        if phase == .finishing || isThere && !connections.isProbing {
            enter(.finishing)
            guard connections.isEmpty else { return commands + connections.stop() }
            enter(.ended)
            return commands + [.finish]
        }
        commands += open(at: now)
        if isCheckpointDue(at: now) {
            checkpoints.order()
            commands.append(.checkpoint)
        }
        return commands
    }

    private mutating func open(at now: Duration) -> [Command] {
        switch phase {
        case .waiting(let until):
            guard connections.isEmpty, now >= until else { return [] }
            enter(.opening)
            return connections.openFirst(at: now)
        case .reopening: return connections.openFirst(at: now)
        case .opening, .running, .finishing, .failing, .ended:
            return connections.isEmpty ? connections.openFirst(at: now) : connections.openMore(at: now, terms)
        }
    }

    // MARK: Changes from outside

    /// Cancels all connections and reconnects at once, because the network has changed. Neither this nor a late failure
    /// of the old connections counts as a failed attempt.
    package mutating func reconnect(at now: Duration) {
        guard !phase.isOver, phase != .finishing else { return }
        connections.reconnects(at: now)
        retryNow(at: now)
    }

    /// Ends a back-off early.
    package mutating func retryNow(at now: Duration) {
        guard case .waiting = phase else { return }
        enter(.waiting(until: now))
    }

    /// Changes the user's connection limit. Connections above it are cancelled, newest first.
    package mutating func set(maxConnections: Int) {
        connections.set(maxConnections: maxConnections)
    }

    /// Adds mirrors that the server declared. Each is used after samples have matched, and dropped if they differ.
    package mutating func add(mirrors names: [String]) {
        sourceNames += names
        sources.add(names.count)
    }

    /// Examines an existing file that has the length of the representation: samples are compared before any of it is
    /// fetched.
    package mutating func examine() {
        guard let total = bytes.total else { return }
        connections.replaceBytes(by: SegmentPlanner(total: total, claimed: RangeSet(0..<total)))
        file.isExamined = true
        sources[sources.primary].trust = .unproven
        enter(.opening)
    }

    /// Leaves the existing file unchanged, because it is another file, and starts without partial content.
    package mutating func leaveExamined() {
        file.isExamined = false
        restarted()
        file.disown()
    }

    /// Whether other connections may still deliver.
    package func hasOthers(than id: ConnectionID) -> Bool { connections.others(than: id) > 0 }

    /// Ends a connection because other downloads use all permitted connections to its host; the next one is opened
    /// after a delay. The server is not at fault, so no failure is counted and the ceiling does not change.
    package mutating func noRoom(for id: ConnectionID, at now: Duration) {
        connections.release(id)
        connections.giveUp(id, at: now)
    }

    /// Ends a connection whose host accepts no request before `time`; a download without other connections waits.
    /// Counts no failed attempt.
    package mutating func hostHolds(_ id: ConnectionID, until time: Duration, _ reason: Reason, at now: Duration) {
        guard connections[id] != nil else { return }
        connections.idles(id)
        guard phase.isActive else { return }
        if connections.others(than: id) > 0 {
            connections.giveUp(id, at: now)
            connections.delay(until: time)
        } else {
            enter(.waiting(until: time))
            hold = Hold(until: time, reason: reason)
        }
    }

    /// The sources that connections read from; empty if there are fewer than two connections or one is ending.
    package var sourcesInUse: Set<Int> {
        connections.sourcesInUse
    }

    /// Ends the newest connection to one of these sources in the middle of its response, because other downloads wait for the
    /// host. For a connection between two requests, see ``noRoom(for:at:)``. The last connection stays.
    package mutating func makeRoom(at sources: Set<Int>, now: Duration) {
        connections.makeRoom(at: sources, now: now)
    }

    // MARK: Readers

    /// The readers of the file while it is fetched.
    package var readers: TransferReaders { connections.readers }

    /// Adds a reader of a range, which may end after the file.
    package mutating func addReader(of range: Range<ByteCount>) -> ReaderID { connections.addReader(of: range) }

    package mutating func removeReader(_ id: ReaderID) { connections.removeReader(id) }

    /// Records that the reader waits for the byte at its position. Returns whether it did not wait before.
    package mutating func readerWaits(_ id: ReaderID, at now: Duration) -> Bool { connections.waits(id, at: now) }

    /// Records that the reader has received the bytes from its position to `end`.
    package mutating func readerReceived(to end: ByteCount, by id: ReaderID) { connections.received(to: end, by: id) }

    /// Returns the written bytes at a reader's position, at most `most`; `nil` if there are none.
    package func available(to id: ReaderID, most: ByteCount) -> Range<ByteCount>? {
        connections.available(to: id, most: most)
    }

    // MARK: Bottleneck

    /// The cause that limits the speed now; `nil` if it is unknown or nothing is being transferred.
    package var bottleneck: Bottleneck? { phase.isActive ? connections.bottleneck : nil }

    /// The observations since the last judgement.
    var presentFacts: TransferFacts { connections.presentFacts }

    /// Whether the server does not support ranges, so that after an interruption all bytes must be received again, although
    /// they are kept.
    package var lacksRanges: Bool { file.representation?.refusesRanges == true || bytes.repeatedBytes > 0 }

    /// Whether the download waits for other downloads, which use all permitted connections to its host.
    package var waitsForPermit: Bool { connections.waitsForPermit }

    /// Whether samples are being compared before any bytes are fetched.
    package var comparesOnly: Bool { connections.comparesOnly }

    /// Whether ``observed(_:rateLimit:at:)`` should be called.
    package func isObservationDue(at now: Duration) -> Bool { connections.isObservationDue(at: now) }

    /// Records the system's information about a connection; `id` is `nil` for requests before there are connections.
    package mutating func observed(_ socket: SocketFacts, on id: ConnectionID?) { connections.observed(socket, on: id) }

    /// Records that a connection waits for other downloads, not for the server. Then ``next(for:at:)`` is called again.
    package mutating func waitsForPermit(_ id: ConnectionID) { connections.waitsForPermit(id) }

    /// Ends the observation of about a second.
    ///
    /// - Parameter rateLimit: The user's lowest limit in bytes per second; `nil` if there is none.
    package mutating func observed(_ processor: ProcessorFacts?, rateLimit: ByteCount?, at now: Duration) {
        connections.observed(processor, rateLimit: rateLimit, at: now)
    }
}

/// The ends of bodies without a declared length whose TLS connection was closed without close_notify.
///
/// Some servers never send close_notify, so such an end may be the end of the file. But overloaded servers and
/// intermediaries also cut off connections, some of them at the same byte each time. After two cuts at the same byte,
/// the file is assumed to end there, until its digest decides.
struct CutOffs: Sendable {
    /// The position at which the last body was cut off.
    var position: ByteCount?
    /// The reason for the cut-off at the assumed end of the file, until the file's digest decides.
    var assumed: Reason?
}

extension DownloadError {
    /// The error for a dead link: a 401 response requires credentials, or a header that Ferry cannot create; otherwise, a
    /// download with partial content needs a fresh link.
    package static func deadLink(_ reason: Reason, status: Int, holdsBytes: Bool) -> DownloadError {
        if status == 401 {
            if case .phrase(let phrase) = reason, phrase.key == .serverAnsweredFor {
                return DownloadError(
                    .credentials, ErrorPhrase(.asksForField, reason), suggestion: ErrorPhrase(.giveField),
                    recovery: .needsUser)
            }
            return DownloadError(
                .credentials, ErrorPhrase(.asksForCredentials, reason),
                suggestion: ErrorPhrase(holdsBytes ? .giveCredentials : .giveCredentialsFirst), recovery: .needsUser)
        }
        if status < 300 {
            // A document arrived in place of the file: a web page, or a program's error report.
            let isPage = reason == Reason(.pageInstead)
            return DownloadError(.freshLink, reason, recovery: .needsUser)
                .suggesting(ErrorPhrase(isPage ? .signInAgain : .giveFreshLink))
        }
        if holdsBytes {
            return DownloadError(
                .freshLink, ErrorPhrase(.deadLink, reason), suggestion: ErrorPhrase(.giveFreshLink),
                recovery: .needsUser)
        }
        return DownloadError(.refused, reason)
    }
}
