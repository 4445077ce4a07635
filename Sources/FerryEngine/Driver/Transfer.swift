import FerryCore
import HTTPTypes
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The state of a run's file while it is fetched, under one lock: the machine that makes every decision, the storage of the
/// bytes, the links that lead to the file, and the expected digests.
///
/// Its methods are events and queries; its callers have no other access to the state. Lock order: this lock, then the lock of a
/// sink (``PartSession``, ``MemorySink``), never the reverse. While it is held, no other lock is acquired, and nothing is
/// reported.
final class Transfer: Sendable {
    private let state: Mutex<State>
    private let request: DownloadRequest
    private let environment: EngineEnvironment

    fileprivate struct State {
        var machine = TransferMachine(settings: TransferMachine.Settings())
        var meter = SpeedMeter()
        /// The start time of the machine; `nil` before existing files have been examined.
        var startedAt: Duration?
        /// Whether the run has ended and its sink is closed.
        var isOver = false
        var stop: DownloadDriver.Stop?
        /// An error that ends the run before the machine does; the first error is kept.
        var error: DownloadError?
        var maxConnections: Int
        var links: Links
        var storage = Storage()
        var digest: ExpectedDigest
        /// The list attributes of the download, which the journal gets with the next checkpoint.
        var tags: JournalTags?
        var faults = Faults()
        var space = Space()
        /// Whether the manager knows that the download waits for its next attempt.
        var isBackingOff = false
        /// The bytes that have arrived since the metrics were last updated.
        var newBytes: ByteCount = 0
        /// The number of representations that have been started.
        var beginnings = 0
    }

    init(_ request: DownloadRequest, _ context: RunContext, _ environment: EngineEnvironment) {
        self.request = request
        self.environment = environment
        state = Mutex(
            State(
                maxConnections: max(1, request.maxConnections),
                links: Links(urls: request.sources, missingNames: context.retries?.missingNames ?? 0),
                digest: ExpectedDigest(request), tags: context.tags))
    }

    private var now: Duration { environment.clock.now() }
    private var isStream: Bool { if case .stream = request.destination { true } else { false } }

    // MARK: Beginning and end

    /// Records the files that existed before the run.
    func took(_ prepared: Prepared) {
        state.withLock { state in
            state.links.urls = prepared.sources
            state.digest = prepared.digest
            state.storage.prepared(prepared.place, prepared.record)
        }
    }

    /// Initializes the machine. `rules` come from the request; the settings that depend on the sources are added here.
    func begin(
        _ rules: TransferMachine.Settings, with held: Prepared.Held?, finished: FileIdentity?
    ) {
        state.withLock { state in
            var rules = rules
            rules.sources = state.links.urls.count
            rules.sourceNames = state.links.urls.map(\.redacted)
            rules.maxConnections = isStream ? 1 : state.maxConnections
            rules.rules = ResumeRules(
                trust: request.trust, hasDigest: state.digest.requested != nil || request.hasDigest)
            rules.rules.canSample = !isStream
            state.machine = TransferMachine(
                settings: rules, held: held?.content, total: held?.totalBytes, weakestJoin: held?.weakestJoin,
                finished: finished)
            state.startedAt = now
        }
    }

    /// The start time of the machine; `nil` before existing files have been examined.
    var startedAt: Duration? { state.withLock { $0.startedAt } }

    /// Records a request to stop; a later request does not replace a cancellation.
    func stopRequested(_ stop: DownloadDriver.Stop) {
        state.withLock { state in if state.stop != .cancel { state.stop = stop } }
    }

    /// The request to stop.
    var stop: DownloadDriver.Stop? { state.withLock { $0.stop } }

    /// Records an error that did not come from the machine.
    func failed(_ error: DownloadError) { state.withLock { state in state.error = state.error ?? error } }

    /// The error that did not come from the machine.
    var error: DownloadError? { state.withLock { $0.error } }

    /// Records that the run has ended.
    func ended() { state.withLock { $0.isOver = true } }

    var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: Ticks

    /// The work to do after a tick.
    struct Tick {
        var commands: [TransferMachine.Command] = []
        var stop: DownloadDriver.Stop?
        var error: DownloadError?
        /// The disk fault to repair first.
        var damage: DownloadError?
    }

    func tick(at now: Duration) -> Tick {
        state.withLock { state in
            if let error = state.error { state.machine.end(error) }
            let damage = state.faults.damage
            // Commands issued before the part file is reopened would be lost.
            let commands = damage == nil ? state.machine.tick(at: now) : []
            return Tick(commands: commands, stop: state.stop, error: state.error, damage: damage)
        }
    }

    func isObservationDue(at now: Duration) -> Bool { state.withLock { $0.machine.isObservationDue(at: now) } }

    /// Ends an observation, from which the machine determines what limits the speed.
    func observed(_ processor: ProcessorFacts?, rateLimit: ByteCount?, at now: Duration) {
        state.withLock { $0.machine.observed(processor, rateLimit: rateLimit, at: now) }
    }

    /// Returns the machine's new events, the bytes that have arrived since the last call, and the wait for a host if one has begun
    /// since. The next record of the journal also gets the events.
    func takeNews(at date: Date) -> (events: [LocalizedEvent], received: ByteCount, hold: TransferMachine.Hold?) {
        state.withLock { state in
            let events = state.machine.drainEvents()
            for event in events { state.storage.append(event.kind, at: date) }
            return (events, state.takeBytes(), state.machine.takeHold())
        }
    }

    /// Adds an event that did not come from the machine to the next record of the journal.
    func happened(_ event: DownloadEvent.Kind, at date: Date) { state.withLock { $0.storage.append(event, at: date) } }

    var receivedBytes: ByteCount { state.withLock { $0.machine.receivedBytes } }

    func takeReceivedBytes() -> ByteCount { state.withLock { $0.takeBytes() } }

    /// Records that the manager knows that the download waits.
    func backsOff() { state.withLock { $0.isBackingOff = true } }

    /// Records the opening of a connection. Returns whether to report to the manager that the download no longer waits.
    func backOffEnded() -> Bool {
        state.withLock { state in
            defer { state.isBackingOff = false }
            return state.isBackingOff
        }
    }

    // MARK: Changes from outside

    func reconnect() { state.withLock { $0.machine.reconnect(at: now) } }
    func retryNow() { state.withLock { $0.machine.retryNow(at: now) } }

    func set(maxConnections: Int) {
        state.withLock { state in
            state.maxConnections = max(1, maxConnections)
            state.machine.set(maxConnections: maxConnections)
        }
    }

    var tags: JournalTags? { state.withLock { $0.tags } }
    func set(tags: JournalTags) { state.withLock { $0.tags = tags } }
    func tagPaused() { state.withLock { $0.tags?.isPaused = true } }

    /// The retry counters for the next run; `nil` before existing files have been examined.
    var retries: RetryMemory? {
        state.withLock { state in
            guard state.startedAt != nil else { return nil }
            var memory = state.machine.retry.memory
            memory.missingNames = state.links.missingNames
            return memory
        }
    }

    // MARK: Reports

    /// - Parameter connectionLimit: The maximum number of connections to one host.
    func progress(at now: Duration, connectionLimit: Int) -> DownloadProgress? {
        state.withLock { state in
            guard state.startedAt != nil else { return nil }
            let machine = state.machine
            let done = machine.bytes.writtenBytes
            let total = machine.bytes.total
            let repeated = machine.bytes.repeatedBytes
            var bottleneck = machine.bottleneck
            if machine.waitsForPermit {
                bottleneck = Bottleneck(.otherDownloads, connections: connectionLimit)
            } else if machine.comparesOnly {
                bottleneck = Bottleneck(.comparison)
            } else if repeated > 0 {
                bottleneck = Bottleneck(.repetition, share: 1 - Double(repeated) / Double(max(done, repeated)))
            }
            return DownloadProgress(
                completedBytes: done, totalBytes: total, bytesPerSecond: state.meter.bytesPerSecond(at: now),
                timeRemaining: total.flatMap { state.meter.timeRemaining(remaining: $0 - done + repeated, at: now) },
                connections: machine.activeConnections, bottleneck: bottleneck)
        }
    }

    /// Returns the written ranges and the ranges that connections are fetching; `nil` before existing files have been examined.
    func picture() -> TransferPicture? {
        state.withLock { state in
            guard state.startedAt != nil else { return nil }
            let bytes = state.machine.bytes
            var picture = TransferPicture(
                totalBytes: bytes.total, written: bytes.written, identity: state.machine.file.identity)
            for (id, segment) in bytes.segments where segment.remaining > 0 {
                picture.running.append((id.rawValue, segment.position..<segment.end))
            }
            picture.finalURL = state.links.finalURL?.redacted
            picture.lacksRanges = state.machine.lacksRanges
            return picture
        }
    }

    // MARK: The file

    /// The facts about the file for the result of the run.
    struct Facts {
        var totalBytes: ByteCount?
        var identity: FileIdentity
        var proof: Proof
        var weakestJoin: Proof?
        var receivedBytes: ByteCount
        /// The URL of the most recent response, with its query shown as `?…`; empty before the first response.
        var finalURL: String
        /// The finished file that the server was asked about, and what the server's answer proves.
        var finished: FileIdentity?
        var finishedProof: Proof
        /// Whether the content is an existing file whose samples have not been compared yet.
        var isExamined: Bool
        var isComplete: Bool
        var writtenBytes: ByteCount
        var rules: ResumeRules
    }

    var facts: Facts {
        state.withLock { state in
            let (file, bytes) = (state.machine.file, state.machine.bytes)
            return Facts(
                totalBytes: bytes.total, identity: file.identity, proof: file.proof, weakestJoin: file.weakestJoin,
                receivedBytes: state.machine.receivedBytes, finalURL: state.links.finalURL?.redacted ?? "",
                finished: file.finished, finishedProof: file.finishedProof, isExamined: file.isExamined,
                isComplete: bytes.isComplete, writtenBytes: bytes.writtenBytes, rules: state.machine.rules)
        }
    }

    /// Whether the server does not support ranges, as far as its responses show.
    var lacksRanges: Bool { state.withLock { $0.machine.lacksRanges } }

    // MARK: Links

    /// The source, followed by its mirrors; their positions identify them.
    var sources: [DownloadURL] { state.withLock { $0.links.urls } }

    /// The sources without the mirrors that a server has named.
    var given: [DownloadURL] { state.withLock { $0.links.given } }

    /// The position of the source that sent the validators of the file.
    var primarySource: Int { state.withLock { $0.links.primary } }

    /// The target of the source's redirects; `nil` if it has none, or it is not known.
    func target(of source: Int) -> DownloadURL? { state.withLock { $0.links.resolved[source] } }

    func forgetTarget(of source: Int) { state.withLock { $0.links.resolved[source] = nil } }

    /// Records the response to a request for samples.
    func answered(_ source: Int, _ response: TransferResponse) {
        state.withLock { $0.links.answered(source, response) }
    }

    /// Returns whether the source had not been redirected to this host, and remembers `url` as its target, so that
    /// the next request waits for a permit there.
    func isFirstVisit(_ url: DownloadURL, of source: Int) -> Bool {
        state.withLock { state in
            defer { state.links.resolved[source] = url }
            // allow(origin): counts connections per host; carries no secret.
            return state.links.resolved[source]?.origin != url.origin
        }
    }

    /// The most recent response, if it was a refusal.
    var refusal: Refusal? { state.withLock { $0.links.refusal } }

    /// Uses the entry of a document that describes the file. Returns `false` if the entry belongs to another file, or another
    /// representation has been started since `beginning`.
    func described(by entry: URLList.Entry, since beginning: Int) -> Bool {
        state.withLock { state in
            guard state.beginnings == beginning, let total = state.machine.bytes.total, entry.size ?? total == total
            else { return false }
            state.addMirrors(entry.urls, request)
            state.digest.described(by: entry, total: total)
            return true
        }
    }

    // MARK: Connections

    func next(for id: ConnectionID) -> TransferMachine.Order {
        state.withLock { $0.machine.next(for: id, at: now) }
    }

    func left(_ id: ConnectionID) { state.withLock { $0.machine.left(id, at: now) } }

    func hasOthers(than id: ConnectionID) -> Bool { state.withLock { $0.machine.hasOthers(than: id) } }

    var openConnections: Int { state.withLock { $0.machine.openConnections } }

    /// Returns whether the download has other connections, and if so ends this one because its host has no room.
    func givesWay(_ id: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.machine.hasOthers(than: id) else { return false }
            state.machine.noRoom(for: id, at: now)
            return true
        }
    }

    func waitsForPermit(_ id: ConnectionID) { state.withLock { $0.machine.waitsForPermit(id) } }

    /// Ends one of several connections in the middle of its response if `isCrowded` reports that other downloads wait for the
    /// host of a source, because the segment of a slow server may take minutes.
    func makeRoom(at now: Duration, where isCrowded: (Int) -> Bool) {
        let crowded = state.withLock { $0.machine.sourcesInUse }.filter(isCrowded)
        if !crowded.isEmpty { state.withLock { $0.machine.makeRoom(at: crowded, now: now) } }
    }

    func awaitsFirstBytes(on id: ConnectionID) {
        state.withLock { $0.machine.awaitsFirstBytes(on: id, at: now) }
    }

    func observed(_ facts: SocketFacts, on id: ConnectionID?) {
        state.withLock { $0.machine.observed(facts, on: id) }
    }

    /// Records the response to a fetch. Returns the machine's action and, for a new representation, its number.
    func headReceived(
        _ verdict: ResponseVerdict, _ response: TransferResponse, of source: Int, on id: ConnectionID
    ) -> (action: TransferMachine.HeadAction, beginning: Int?) {
        state.withLock { state in
            let action = state.machine.headReceived(verdict, on: id, at: now, random: environment.random())
            var beginning: Int?
            switch action {
            case .begin, .restartWith:
                state.links.primary = source
                state.storage.leave()
                state.digest.restarted()
                state.beginnings += 1
                beginning = state.beginnings
                state.addMirrors(response.links.mirrors, request)
            default: break
            }
            switch action {
            case .drop: break
            // Further requests do not use the URL of a response that was not used.
            case .leave where state.machine.phase != .finishing: state.links.refused(source, response)
            case .leave, .begin, .restartWith, .read, .unchanged:
                state.links.answered(source, response)
                state.links.finalURL = response.url
            }
            return (action, beginning)
        }
    }

    func ended(_ id: ConnectionID, _ end: TransferMachine.End) {
        state.withLock { $0.machine.ended(id, end, at: now, random: environment.random()) }
    }

    /// Records that the host accepts no request before `time`.
    func hostHolds(_ id: ConnectionID, until time: Duration, _ reason: Reason) {
        state.withLock { $0.machine.hostHolds(id, until: time, reason, at: now) }
    }

    /// Records that a request failed before its response head. Returns whether the run fails with it.
    func failed(_ failure: TransferFailure, on id: ConnectionID) -> Bool {
        state.withLock { state in
            let isMissing = failure.kind == .dns(permanent: true)
            if isMissing { state.links.missingNames += 1 }
            let passes =
                failure.isTransient || state.machine.openConnections > 1
                || (isMissing && state.links.missingNames < 3)
            if passes {
                state.machine.ended(
                    id,
                    .failedBeforeHead(
                        .phrase(failure.phrase), isTransient: true, isRefused: failure.isRefusal),
                    at: now, random: environment.random())
            }
            return !passes && !state.machine.failedForGood(id, .phrase(failure.phrase))
        }
    }

    // MARK: Bytes

    /// The next step for a piece of a body.
    struct Step {
        /// The placement of the next bytes of the piece; `nil` if none are left.
        var placement: SegmentPlanner.Placement?
        /// The place that the placement refers to.
        var place: Place?
        /// Whether the machine has commands.
        var wantsTick = false
        /// Whether the next piece must wait for a checkpoint.
        var mustWait = false
        /// Whether the free space must be checked.
        var mustLook = false
        /// Whether the rest of the range now belongs to another connection; `nil` if the caller must wait first.
        var mustCut: Bool?
        /// Whether a reader waits for the written bytes.
        var isAwaited = false
    }

    // The next four methods are called for each piece, and allocate nothing.

    /// Records the arrival of a piece of `count` bytes.
    func arrived(_ count: Int, on id: ConnectionID, isLimited: Bool) -> Step {
        state.withLock { state in
            let now = now
            state.machine.arrived(ByteCount(count), on: id, at: now)
            state.meter.record(ByteCount(count), at: now)
            state.newBytes += ByteCount(count)
            return state.step(left: count, on: id, isLimited: isLimited, environment.clock)
        }
    }

    /// Records that bytes of the piece belong to another connection; `left` bytes follow.
    func skipped(left: Int, on id: ConnectionID, isLimited: Bool) -> Step {
        state.withLock { $0.step(left: left, on: id, isLimited: isLimited, environment.clock) }
    }

    /// Records that the bytes of the placement were written; `left` bytes follow.
    func wrote(left: Int, on id: ConnectionID, isLimited: Bool) -> Step {
        state.withLock { state in
            let isAwaited = state.machine.wrote(on: id)
            var step = state.step(left: left, on: id, isLimited: isLimited, environment.clock)
            step.isAwaited = isAwaited
            return step
        }
    }

    func writeFailed(on id: ConnectionID) { state.withLock { $0.machine.writeFailed(on: id) } }

    /// Returns whether the connection continues reading.
    ///
    /// - Parameter since: The time when a rate limit began to delay it; `nil` if there was no delay.
    func asks(_ id: ConnectionID, limited since: Duration?) -> Bool {
        state.withLock { state in
            let now = now
            return state.machine.asks(id, at: now, limited: since.map { now - $0 } ?? .zero)
        }
    }

    /// Counts received bytes that do not belong to the body of the file.
    func receivedElsewhere(_ count: ByteCount) { state.withLock { $0.machine.receivedElsewhere(count) } }

    /// Records that the digest of the response's body will be compared. Returns `false` if such digests from this server were
    /// wrong before.
    func checks(_ id: ConnectionID) -> Bool {
        state.withLock { state in
            guard !state.machine.distrustsMessageDigests else { return false }
            state.machine.checks(id)
            return true
        }
    }

    /// Forgets the bytes of a response that does not match its digest.
    func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        state.withLock { state in
            state.machine.forget(ranges, on: id)
            state.faults.timesForgotten += 1
        }
    }

    /// Allows fetching the ranges again, because no journal claims them any longer.
    func allow(_ ranges: RangeSet<ByteCount>) { state.withLock { $0.machine.allow(ranges) } }

    /// The number of times bytes were forgotten. A digest that was started before the last time is invalid.
    var timesForgotten: Int { state.withLock { $0.faults.timesForgotten } }

    // MARK: Checkpoints

    var mustWaitForCheckpoint: Bool { state.withLock { $0.machine.mustWaitForCheckpoint } }

    /// Returns the bytes that a checkpoint claims and the place that contains them, both for the same file.
    func beginCheckpoint(
        at now: Duration
    ) -> (place: Place?, snapshot: RangeSet<ByteCount>, statement: JournalStatement) {
        state.withLock { state in
            let snapshot = state.machine.beginCheckpoint(at: now)
            return (state.storage.place, snapshot, state.statement(claiming: snapshot))
        }
    }

    func checkpointEnded(_ snapshot: RangeSet<ByteCount>, at now: Duration) {
        state.withLock { $0.machine.checkpointEnded(snapshot, succeeded: true, at: now) }
    }

    /// Records that nothing was claimed; the bytes stay written.
    func checkpointSkipped() { state.withLock { $0.machine.checkpointSkipped() } }

    /// Records a failed sync. No other sync may start before all connections have stopped, because it could succeed without the
    /// data that this one lost.
    func syncFailed() { state.withLock { $0.faults.distrustsUnclaimed = true } }

    /// Records that all connections have stopped. After a failed sync, the unclaimed bytes are fetched again.
    func drained() {
        state.withLock { state in
            guard state.faults.distrustsUnclaimed else { return }
            state.faults.distrustsUnclaimed = false
            let snapshot = state.machine.beginCheckpoint(at: now)
            state.machine.checkpointEnded(snapshot, succeeded: false, at: now)
        }
    }

    /// The current statement for the journal, without additional claims, and its place.
    var statement: (place: Place?, statement: JournalStatement) {
        state.withLock { ($0.storage.place, $0.statement(claiming: RangeSet())) }
    }

    // MARK: Faults of the disk

    /// Returns whether the failed write or sync will be repaired.
    func mends(_ error: FileError) -> Bool {
        state.withLock { $0.faults.mends(error, ofPart: $0.storage.openPart != nil) }
    }

    /// Records that the part file is about to be reopened. Returns whether the file was complete.
    func mendingBegan() -> Bool {
        state.withLock { state in
            state.faults.distrustsUnclaimed = true
            return state.machine.bytes.isComplete
        }
    }

    func mended() { state.withLock { $0.faults.mending = .done } }

    /// The error that prevents a file whose last bytes have arrived from being complete.
    var incompleteness: DownloadError? { state.withLock { $0.error ?? $0.faults.damage } }

    /// Records the free space beside a file of unknown length, which is checked again after an eighth of it is used.
    func foundRoom(_ room: ByteCount) {
        state.withLock { $0.space.enoughUntil = $0.machine.bytes.writtenBytes + max(0, room) / 8 }
    }

    /// Returns the directory of a file of unknown length if a check of its free space is due, as it is each second.
    func directoryToCheck(at now: Duration) -> FilePath? {
        state.withLock { state in
            guard state.machine.bytes.total == nil, state.space.isDue(at: now) else { return nil }
            return state.storage.part?.paths.directory
        }
    }

    // MARK: Places

    var place: Place? { state.withLock { $0.storage.place } }
    var part: PartSession? { state.withLock { $0.storage.part } }

    /// The open part file, even while another representation replaces it.
    var openPart: PartSession? { state.withLock { $0.storage.openPart } }

    /// The place of the previous file, until it is moved to the backup.
    var outgoing: Place? { state.withLock { $0.storage.outgoing } }

    /// The record of the newest part file, even if that was discarded.
    var lastRecord: JournalRecord? { state.withLock { $0.storage.session?.record ?? $0.storage.earlier } }

    /// Makes the current place the outgoing one. Without a place nothing changes.
    func leavePlace() { state.withLock { $0.storage.leave() } }

    /// Sets the place of the file; `nil` if it needs none.
    func set(_ place: Place?) { state.withLock { $0.storage.set(place) } }

    /// Adopts an existing file that may be the representation.
    func examine(_ existing: ExistingFile) {
        state.withLock { state in
            state.storage.set(.examined(ExaminedFile(existing)))
            state.machine.examine()
        }
    }

    /// Stops using the existing file, because its bytes differ.
    func leaveExamined() {
        state.withLock { state in
            state.storage.set(nil)
            state.machine.leaveExamined()
        }
    }

    /// Records that the bytes have moved from memory to a part file.
    func moved(_ memory: MemorySink, to session: PartSession) {
        state.withLock { $0.storage.moved(memory, to: session) }
    }

    /// Records that the content was moved to the backup before any response.
    func restarted() {
        state.withLock { state in
            state.machine.restarted()
            state.digest.gaveUpHeldContent()
        }
    }

    // MARK: Samples

    /// Returns the content that is compared with a source.
    func sampleBasis(of source: Int) -> (held: PartialContent, rules: ResumeRules) {
        state.withLock { $0.machine.sampleBasis(of: source) }
    }

    func sampled(_ outcome: SamplePlan.Outcome, source: Int, offered: FileIdentity?) {
        state.withLock { $0.machine.sampled(outcome, source: source, offered: offered) }
    }

    func samplingRefused(_ reason: Reason, status: Int?, source: Int) {
        state.withLock { $0.machine.samplingRefused(reason, status: status, source: source) }
    }

    func samplingFailed(
        _ reason: Reason, code: DownloadError.Code, source: Int, on id: ConnectionID
    ) {
        state.withLock {
            $0.machine.samplingFailed(reason, code: code, source: source, on: id, at: now, random: environment.random())
        }
    }

    // MARK: Digests

    var digest: ExpectedDigest { state.withLock { $0.digest } }

    /// The expected digest of the whole file: the requested one, or else the strongest that the server offers.
    var digestToCheck: Checksum? { state.withLock { $0.digestToCheck } }

    /// Records that the list of checksums contains the file.
    func listed(_ found: ChecksumListing.Found) {
        state.withLock { state in
            state.digest.listed(found)
            state.machine.receivedElsewhere(found.receivedBytes)
        }
    }

    /// Stores the digests of the complete file.
    func computed(_ digests: RecordedDigests?) { state.withLock { $0.digest.computed(digests) } }

    /// Returns the expected digest, and the end of the bytes that a running digest may read. These are only claimed bytes,
    /// because a failed sync discards others.
    func followed() -> (checksum: Checksum?, end: ByteCount, timesForgotten: Int, part: PartSession?) {
        state.withLock {
            ($0.digestToCheck, $0.machine.bytes.claimed.prefixEnd, $0.faults.timesForgotten, $0.storage.part)
        }
    }

    /// Records that the file does not match its digest. Returns the bytes to fetch again; `nil` if no source can have the right
    /// ones.
    func refuted(_ error: DownloadError, damaged: RangeSet<ByteCount>) -> RangeSet<ByteCount>? {
        state.withLock { state in
            state.faults.timesForgotten += 1
            return state.machine.refuted(error, damaged: damaged)
        }
    }

    /// Records that the complete file matches its digest, so its assumed end is correct.
    func provedEnd() { state.withLock { $0.machine.provedEnd() } }

    /// Records that the complete file does not match its digest. Returns the bytes to fetch again if its end was only assumed;
    /// otherwise `nil`.
    func cutShort() -> RangeSet<ByteCount>? {
        state.withLock { state in
            let forgotten = state.machine.cutShort(at: now, random: environment.random())
            if forgotten != nil { state.faults.timesForgotten += 1 }
            return forgotten
        }
    }

    // MARK: Readers

    /// The part file with bytes of the representation that the server has confirmed, and the known facts about it.
    var readable: (part: PartSession, totalBytes: ByteCount?, identity: FileIdentity)? {
        state.withLock { state in
            state.readable.map { ($0, state.machine.bytes.total, state.machine.file.identity) }
        }
    }

    /// Adds a reader. The identifier is `nil` before existing files have been examined and after the end of the run.
    func addReader(of range: Range<ByteCount>) -> (id: ReaderID?, isOver: Bool) {
        state.withLock { state in
            (state.startedAt == nil || state.isOver ? nil : state.machine.addReader(of: range), state.isOver)
        }
    }

    func removeReader(_ id: ReaderID) { state.withLock { $0.machine.removeReader(id) } }

    /// Whether bytes that the reader has received were found to be wrong.
    func isRefuted(_ id: ReaderID) -> Bool { state.withLock { $0.machine.readers[id]?.isRefuted ?? false } }

    enum NextBytes {
        case found(Range<ByteCount>)
        case ended(DownloadDriver.Piece)
        case missing(isNew: Bool)
    }

    /// Returns the next bytes of a reader that has `file` open.
    func nextBytes(
        _ id: ReaderID, of file: ContentFile, before end: ByteCount, most: ByteCount
    ) -> NextBytes {
        state.withLock { state in
            guard let reader = state.machine.readers[id], !state.isOver else { return .ended(.over) }
            guard let part = state.readable else { return .missing(isNew: false) }
            guard file.isPart(of: part) else { return .ended(.otherFile) }
            let end = min(reader.end, end, state.machine.bytes.end)
            if reader.position >= end { return .ended(.end) }
            let most = min(most, end - reader.position)
            if let range = state.machine.available(to: id, most: most) { return .found(range) }
            return .missing(isNew: state.machine.readerWaits(id, at: now))
        }
    }

    /// Records that the reader has received the bytes, if they still belong to the file. Returns whether they do.
    func confirm(_ range: Range<ByteCount>, _ id: ReaderID, _ file: ContentFile) -> Bool {
        state.withLock { state in
            guard let part = state.readable, file.isPart(of: part), state.machine.bytes.written.holds(range),
                state.machine.readers[id]?.isRefuted == false
            else { return false }
            state.machine.readerReceived(to: range.upperBound, by: id)
            return true
        }
    }

    // MARK: Queries for tests

    /// Whether the machine opens no more connections.
    var hasFailed: Bool { state.withLock { $0.machine.phase == .ended } }

    /// The maximum number of connections that the machine opens.
    var maxConnections: Int { state.withLock { $0.machine.maxConnections } }

    /// The number of readers, and the number of those that have received wrong bytes.
    var readers: (all: Int, refuted: Int) {
        state.withLock { state in
            let readers = state.machine.readers.all.values
            return (readers.count, readers.count { $0.isRefuted })
        }
    }
}

// MARK: -

extension Transfer.State {
    var digestToCheck: Checksum? {
        digest.requested ?? machine.file.representation?.digests.first ?? digest.offered
    }

    var readable: PartSession? {
        isOver || machine.file.representation == nil ? nil : storage.part
    }

    mutating func takeBytes() -> ByteCount {
        defer { newBytes = 0 }
        return newBytes
    }

    /// Adds the mirrors that a server has named, except those that a server may not name. They are used like given mirrors.
    mutating func addMirrors(_ named: [DownloadURL], _ request: DownloadRequest) {
        let most = DownloadRequest.mostSources - links.urls.count
        let mirrors = LinkField.usable(
            named, besides: links.urls, allowsDowngrade: request.trust.allowsDowngrade
        ).prefix(max(0, most))
        guard !mirrors.isEmpty else { return }
        links.urls += mirrors
        links.namedCount += mirrors.count
        machine.add(mirrors: mirrors.map(\.redacted))
    }

    mutating func step(left: Int, on id: ConnectionID, isLimited: Bool, _ clock: any EngineClock)
        -> Transfer.Step
    {
        var step = Transfer.Step(wantsTick: machine.wantsTick)
        if left > 0 {
            step.placement = machine.place(ByteCount(left), on: id)
            step.place = storage.place
            return step
        }
        step.mustLook = !machine.hasTotal && machine.writtenBytes >= space.enoughUntil
        step.mustWait = machine.mustWaitForCheckpoint
        if !step.mustLook, !step.mustWait, !isLimited { step.mustCut = !machine.asks(id, at: clock.now()) }
        return step
    }

    /// Returns the statement for the journal once `snapshot` is synced.
    func statement(claiming snapshot: RangeSet<ByteCount>) -> JournalStatement {
        let given = links.given.map(\.text)
        // The source of the validators comes first.
        let first = given.indices.contains(links.primary) ? [given[links.primary]] : []
        return JournalStatement(
            claimed: machine.bytes.claimed.union(snapshot.intersection(machine.bytes.written)),
            isComplete: machine.bytes.isComplete, isLinkUnproven: machine.isLinkUnproven, tags: tags,
            urls: first + given, totalBytes: machine.provenTotal, identity: machine.file.identity,
            checksum: digest.requested, offered: machine.file.representation?.digests.first ?? digest.offered,
            weakestJoin: machine.file.weakestJoin)
    }
}

extension Transfer {
    /// The URLs and the targets of their redirects.
    fileprivate struct Links {
        var urls: [DownloadURL]
        /// The number of mirrors at the end of `urls` that the server has named. They are not stored in the journal: it would be
        /// found by their URLs, but a request for a mirror is not a request for the first source.
        var namedCount = 0
        var given: [DownloadURL] { Array(urls.dropLast(namedCount)) }
        /// The targets of redirects.
        var resolved: [Int: DownloadURL] = [:]
        var finalURL: DownloadURL?
        var primary = 0
        /// The number of failed lookups of host names.
        var missingNames: Int
        var refusal: Refusal?

        init(urls: [DownloadURL], missingNames: Int) { (self.urls, self.missingNames) = (urls, missingNames) }

        mutating func answered(_ source: Int, _ response: TransferResponse) {
            refused(source, response)
            resolved[source] = response.redirects.isEmpty ? nil : response.url
        }

        mutating func refused(_ source: Int, _ response: TransferResponse) {
            refusal = Refusal(response, of: urls[source])
        }
    }

    /// The storage of the bytes.
    ///
    /// The place belongs to the machine's current file. When the machine switches to another representation, there is no place
    /// until the previous one has been moved to the backup.
    fileprivate struct Storage {
        private(set) var place: Place?
        private(set) var outgoing: Place?
        /// The newest part file, even if it was discarded: the next part file's journal gets its events.
        private(set) var session: PartSession?
        /// The record that was found before the run, used while there is no session.
        private(set) var earlier: JournalRecord?

        /// The part file that receives the bytes.
        var part: PartSession? { if case .part(let session)? = place { session } else { nil } }

        /// The open part file.
        var openPart: PartSession? {
            switch place ?? outgoing {
            case .part(let session)?: session
            case .memory(let memory)?: memory.successor
            default: nil
            }
        }

        /// Adds an event to the next record.
        mutating func append(_ event: DownloadEvent.Kind, at date: Date) {
            if let session { session.append(event, at: date) } else { earlier?.append(event, at: date) }
        }

        mutating func prepared(_ place: Place?, _ record: JournalRecord?) {
            earlier = record
            set(place)
        }

        mutating func leave() {
            outgoing = place ?? outgoing
            place = nil
        }

        mutating func set(_ place: Place?) {
            (self.place, outgoing) = (place, nil)
            if case .part(let session)? = place { self.session = session }
        }

        mutating func moved(_ memory: MemorySink, to session: PartSession) {
            self.session = session
            if place?.sink === memory { place = .part(session) }
            if outgoing?.sink === memory { outgoing = .part(session) }
        }
    }

    /// The disk faults. The first fault of a part file is repaired by reopening the file.
    fileprivate struct Faults {
        enum Mending {
            case unneeded
            case due(DownloadError)
            case done
        }
        var mending = Mending.unneeded
        /// Whether a sync failed, so that no unclaimed byte is trusted.
        var distrustsUnclaimed = false
        var timesForgotten = 0

        var damage: DownloadError? { if case .due(let error) = mending { error } else { nil } }

        mutating func mends(_ error: FileError, ofPart: Bool) -> Bool {
            switch mending {
            case .due: return true
            case .done: return false
            case .unneeded:
                guard error.kind == .io, ofPart else { return false }
                mending = .due(DownloadError(error))
                return true
            }
        }
    }

    /// The free space beside a file of unknown length.
    fileprivate struct Space {
        private var checkedAt: Duration = .zero
        /// The number of written bytes at which the free space is checked again.
        var enoughUntil: ByteCount = 0

        /// Returns whether a check is due, and records it as done.
        mutating func isDue(at now: Duration) -> Bool {
            guard now - checkedAt >= .seconds(1) else { return false }
            checkedAt = now
            return true
        }
    }
}
