import FerryCore
import Foundation

/// Plays the driver for a ``TransferMachine`` against model origins in virtual time, and records every forbidden
/// action.
struct World {
    enum Outcome: Equatable {
        case finished
        case failed(DownloadError)
        case tooLong
    }

    enum Task {
        case idle
        case awaiting(until: Double, ModelOrigin.Reply, TransferMachine.Fetch)
        /// The old file is set aside, or the first one is prepared.
        case placing(until: Double, ModelOrigin.Body, isNew: Bool)
        case reading(ModelOrigin.Body)
        case proving(source: Int, until: Double)
        /// The journal retracts the bytes of a response with a wrong digest.
        case takingBack(until: Double, RangeSet<ByteCount>)
    }

    var machine: TransferMachine
    var origins: [ModelOrigin]
    var random: SeededBytes
    var now = 0.0
    var step = 0.05
    var tasks: [ConnectionID: (task: Task, source: Int)] = [:]
    var isRung = false
    /// Readers of the file.
    var readers: [ModelReader] = []
    /// The ranges of each content in the part file.
    private(set) var file: [Int: RangeSet<ByteCount>] = [:]
    private var sync: (snapshot: RangeSet<ByteCount>, file: [Int: RangeSet<ByteCount>], until: Double, succeeds: Bool)?
    private var linkBorn: [Int: Double] = [:]
    private var waiting: Set<ConnectionID> = []
    /// Changes from outside, by time.
    var happenings: [(at: Double, change: (inout TransferMachine, Duration) -> Void)] = []
    /// Connections that other downloads leave free; `nil` without a limit.
    var room: Int?
    /// A later value of ``room``, and its time.
    var roomLater: (at: Double, room: Int)?
    /// The time that the preparation of a file takes.
    var placing = 0.0
    /// The content that has the digest of the request; `nil` without one.
    var digest: Int?
    /// The chance that a sync fails; the run continues then, as no driver would.
    var syncFailures = 0.0
    var violations: [String] = []
    var outcome: Outcome?
    private(set) var requests = 0
    private(set) var restarts = 0
    /// Responses whose bytes were retracted.
    private(set) var forgotten = 0
    var withheld = RangeSet<ByteCount>()
    private(set) var peak = 0
    private(set) var events: [DownloadEvent.Kind] = []
    /// Delivering connections at each tenth of a second.
    private(set) var counts: [Int] = []
    /// The times at which syncs began, in seconds, and the bytes of each.
    private(set) var checkpoints: [(at: Double, bytes: ByteCount)] = []

    init(_ machine: TransferMachine, _ origins: [ModelOrigin], seed: UInt64 = 1, held: [Int: RangeSet<ByteCount>] = [:])
    {
        self.machine = machine
        self.origins = origins
        random = SeededBytes(seed: seed)
        file = held
    }

    private var time: Duration { .milliseconds(Int64((now * 1000).rounded())) }
    mutating func run(limit: Double = 20_000) -> Outcome {
        while outcome == nil && violations.isEmpty {
            instant()
            if outcome != nil { break }
            if now > limit {
                outcome = .tooLong
                break
            }
            now += step
            if tasks.isEmpty, case .waiting(let until) = machine.phase, sync == nil {
                let next = min(until.seconds, happenings.first?.at ?? .infinity)
                now = max(now, (next / step).rounded(.up) * step)
            }
            while let happening = happenings.first, happening.at <= now {
                happenings.removeFirst()
                happening.change(&machine, time)
            }
            if let later = roomLater, later.at <= now { (room, roomLater) = (later.room, nil) }
            for index in origins.indices { origins[index].age(to: now) }
            if let sync, sync.until <= now { endSync(sync) }
            for id in tasks.keys.sorted(by: { $0.rawValue < $1.rawValue }) { progress(id) }
            moveReaders()
        }
        return outcome ?? .tooLong
    }

    /// Everything that happens without time passing.
    private mutating func instant() {
        var rounds = 0
        let before = requests
        repeat {
            isRung = false
            rounds += 1
            let commands = machine.tick(at: time)
            for command in commands { obey(command) }
            if outcome != nil { return }
            for id in tasks.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
                if case .idle? = tasks[id]?.task { ask(id) }
            }
            for event in machine.drainEvents() {
                if case .note = event.kind, case .words? = event.reason {
                    violations.append("said in English alone: \(event.kind)")
                }
                events.append(event.kind)
            }
            check()
            if rounds > 300 || requests - before > 300 {
                violations.append("a loop without an end at \(now), phase \(machine.phase)")
                return
            }
        } while isRung
        peak = max(peak, tasks.count)
        counts.append(machine.activeConnections)
    }

    private mutating func obey(_ command: TransferMachine.Command) {
        switch command {
        case .open(let id):
            if tasks[id] != nil { violations.append("opened twice") }
            tasks[id] = (.idle, 0)
            if tasks.count > machine.maxConnections {
                violations.append("\(tasks.count) connections, \(machine.maxConnections) allowed")
            }
        case .cut(let id):
            guard let task = tasks[id]?.task else { return }
            if case .takingBack = task { return }
            if case .reading(let body) = task, body.isSpoiled == true, body.position >= body.end {
                violations.append("cut before its digest was compared")
            }
            if case .proving(let source, _) = task {
                machine.samplingFailed("cancelled", code: .network, source: source, on: id, at: time, random: 0.5)
            } else {
                machine.ended(id, .stopped, at: time, random: 0.5)
            }
            leave(id)
        case .checkpoint:
            if sync != nil { violations.append("two syncs at a time") }
            checkpoints.append((now, machine.bytes.written.subtracting(machine.bytes.claimed).byteCount))
            let fails = syncFailures > 0 && Double.random(in: 0..<1, using: &random) < syncFailures
            sync = (machine.beginCheckpoint(at: time), file, now + 0.06, !fails)
        case .finish: if !refute() { finish() }
        case .fail(let error): outcome = .failed(error)
        }
    }

    /// Compares the complete file with the digest of the request. Returns whether it does not match.
    private mutating func refute() -> Bool {
        guard let digest, file.contains(where: { $0.key != digest && !$0.value.isEmpty }) else { return false }
        let error = DownloadError(.checksum, Reason(.digestRefuted))
        guard let forgotten = machine.refuted(error) else {
            outcome = .failed(error)
            return true
        }
        for key in file.keys { file[key]?.subtract(forgotten) }
        file = file.filter { !$0.value.isEmpty }
        machine.allow(forgotten)
        isRung = true
        return true
    }

    private mutating func leave(_ id: ConnectionID) {
        tasks[id] = nil
        waiting.remove(id)
        machine.left(id, at: time)
        isRung = true
    }

    private mutating func ask(_ id: ConnectionID) {
        switch machine.next(for: id, at: time) {
        case .leave: leave(id)
        case .restart:
            setAside()
            machine.restarted()
            isRung = true
        case .prove(let source):
            tasks[id] = (.proving(source: source, until: now + origins[source].latency * 4), source)
        case .fetch(let fetch):
            let busy = tasks.values.count { if case .idle = $0.task { false } else { true } }
            if let room, busy >= room, machine.hasOthers(than: id) {
                machine.noRoom(for: id, at: time)
                return leave(id)
            }
            requests += 1
            let origin = origins[fetch.source]
            let open = tasks.count { key, value in
                if key == id { return true }
                if case .idle = value.task { return false }
                return value.source == fetch.source
            }
            let age = fetch.fromOriginal ? nil : now - (linkBorn[fetch.source] ?? 0)
            let reply = origin.reply(
                to: fetch.ask, ifRange: fetch.ifRange, at: now, open: open, linkAge: age, random: &random)
            if fetch.fromOriginal { linkBorn[fetch.source] = now }
            let jitter = Double.random(in: 0.7..<1.3, using: &random)
            tasks[id] = (.awaiting(until: now + origin.latency * jitter, reply, fetch), fetch.source)
        }
    }

    private mutating func progress(_ id: ConnectionID) {
        guard let (task, source) = tasks[id] else { return }
        switch task {
        case .idle: break
        case .proving(let source, let until): if now >= until { prove(source, id) }
        case .takingBack(let until, let ranges):
            // A running checkpoint takes precedence.
            guard now >= until, sync == nil else { return }
            withheld.subtract(ranges)
            machine.allow(ranges)
            again(id, .spoiled(expected: "a", actual: "b"))
        case .awaiting(let until, let reply, let fetch):
            switch reply {
            case .failure(let reason) where now >= until:
                let isRefused = reason == "connection refused"
                let end = TransferMachine.End.failedBeforeHead(.words(reason), isTransient: true, isRefused: isRefused)
                machine.ended(id, end, at: time, random: 0.5)
                leave(id)
            case .silence:
                // The request is answered when a connection is free.
                let open = tasks.values.count { if case .reading = $0.task { $0.source == source } else { false } }
                let isAnswered = if case .mute = origins[source].excess { false } else { true }
                if isAnswered, open < origins[source].maxOpen {
                    let late = origins[source].reply(to: fetch.ask, ifRange: fetch.ifRange, at: now, random: &random)
                    tasks[id] = (.awaiting(until: now, late, fetch), source)
                } else if now > until + 60 {
                    machine.ended(id, .failedBeforeHead("no answer in 60 s", isTransient: true), at: time, random: 0.5)
                    leave(id)
                }
            case .answer(let head, let body) where now >= until: receive(head, body, fetch, id)
            default: break
            }
        case .placing(let until, var body, let isNew):
            guard now >= until else { return }
            if !isNew { setAside() }
            body.started = now
            tasks[id]?.task = .reading(body)
        case .reading(let body): read(body, source, id)
        }
    }

    private mutating func receive(
        _ head: ResponseHead, _ body: ModelOrigin.Body?, _ fetch: TransferMachine.Fetch, _ id: ConnectionID
    ) {
        let verdict = ResponseVerdict.judge(head, asked: fetch.ask, now: ModelOrigin.epoch.addingTimeInterval(now))
        let action = machine.headReceived(verdict, on: id, at: time, random: 0.5)
        switch action {
        case .drop:
            machine.ended(id, .stopped, at: time, random: 0.5)
            tasks[id]?.task = .idle
            isRung = true
            return
        case .leave, .unchanged:
            machine.ended(id, .stopped, at: time, random: 0.5)
            return leave(id)
        case .begin: if !file.isEmpty { violations.append("a beginning over bytes that are there") }
        case .restartWith, .read: break
        }
        guard var body else { return violations.append("reads a body of \(head.status)") }
        if action != .read {
            let isNew = if case .begin = action { true } else { false }
            tasks[id]?.task = .placing(until: now + placing, body, isNew: isNew)
            if placing == 0 { progress(id) }
            return
        }
        body.started = now
        if body.isSpoiled != nil { machine.checks(id) }
        tasks[id]?.task = .reading(body)
    }

    private mutating func read(_ old: ModelOrigin.Body, _ source: Int, _ id: ConnectionID) {
        if waiting.contains(id) {
            if machine.mustWaitForCheckpoint { return }
            waiting.remove(id)
            guard machine.asks(id, at: time) else { return again(id, .stopped) }
        }
        var body = old
        let origin = origins[source]
        let readers = tasks.values.count { if case .reading = $0.task { true } else { false } }
        let rate = min(origin.connectionRate, origin.totalRate / Double(max(1, readers)))
        let due = origin.isBursty ? rate * (floor(now - body.started) + 1) - body.sent : rate * step
        var left = min(ByteCount(max(0, due)), body.end - body.position)
        if let stall = body.stallAt { left = min(left, max(0, stall - ByteCount(body.sent))) }
        var isBroken = false
        if let at = body.breakAt, ByteCount(body.sent) + left >= at {
            left = max(0, at - ByteCount(body.sent))
            isBroken = true
        }
        while left > 0 {
            let piece = min(left, 512 << 10)
            machine.arrived(piece, on: id, at: time)
            guard take(piece, &body, id) else { return again(id, .stopped) }
            left -= piece
            body.sent += Double(piece)
            if machine.mustWaitForCheckpoint {
                waiting.insert(id)
                isRung = true
                tasks[id]?.task = .reading(body)
                return
            }
            guard machine.asks(id, at: time) else { return again(id, .stopped) }
        }
        if isBroken { return again(id, .broken("connection reset")) }
        if body.position >= body.end {
            if body.isSpoiled == true { return forget(body, id) }
            return again(id, .complete)
        }
        tasks[id]?.task = .reading(body)
    }

    /// Writes one piece where the machine places it.
    private mutating func take(_ count: ByteCount, _ body: inout ModelOrigin.Body, _ id: ConnectionID) -> Bool {
        var left = count
        while left > 0 {
            switch machine.place(left, on: id) {
            case .stop: return false
            case .skip(let skipped):
                left -= skipped
                body.position += skipped
            case .write(let range):
                if tasks.values.contains(where: { if case .placing = $0.task { true } else { false } }) {
                    violations.append("\(range) was written while the place for it was being made")
                }
                if range.lowerBound != body.position {
                    violations.append("byte \(body.position) went to \(range.lowerBound)")
                }
                if !withheld.intersection(RangeSet(range)).isEmpty {
                    violations.append("\(range) was written while a journal claimed it")
                }
                body.written.insert(contentsOf: range)
                for other in file.values where !other.intersection(RangeSet(range)).isEmpty && syncFailures == 0 {
                    violations.append("\(range) was written twice")
                }
                for key in file.keys { file[key]?.remove(contentsOf: range) }
                file[body.content, default: RangeSet()].insert(contentsOf: range)
                machine.wrote(on: id)
                left -= range.upperBound - range.lowerBound
                body.position = range.upperBound
            }
        }
        return true
    }

    /// Retracts a body with a wrong digest.
    private mutating func forget(_ body: ModelOrigin.Body, _ id: ConnectionID) {
        machine.forget(body.written, on: id)
        for key in file.keys { file[key]?.subtract(body.written) }
        file = file.filter { !$0.value.isEmpty }
        withheld.formUnion(body.written)
        forgotten += 1
        tasks[id]?.task = .takingBack(until: now + 0.1, body.written)
        isRung = true
    }

    private mutating func again(_ id: ConnectionID, _ end: TransferMachine.End) {
        machine.ended(id, end, at: time, random: 0.5)
        tasks[id]?.task = .idle
        isRung = true
    }

    private mutating func prove(_ source: Int, _ id: ConnectionID) {
        let origin = origins[source]
        let ask = RangeAsk.range(0..<1)
        requests += 1
        if origin.isDead {
            machine.samplingRefused(Reason(.serverAnswered, "403"), status: 403, source: source)
        } else if case .answer(let head, _?) = origin.reply(to: ask, at: now, random: &random) {
            switch ResponseVerdict.judge(head, asked: ask, now: ModelOrigin.epoch.addingTimeInterval(now)) {
            case .part(_, let representation):
                var offered = representation.identity
                if origin.hasOwnTags { offered.etag = nil }
                let isSame = file.allSatisfy { $0.value.isEmpty || $0.key == origin.content }
                let fits =
                    machine.bytes.total == nil
                    || representation.identity.totalBytes.map { $0 == machine.bytes.total } ?? true
                machine.sampled(isSame && fits ? .equal : .different, source: source, offered: offered)
            case .whole where origin.document != nil:
                machine.samplingRefused(Reason(.unprovenInstead), status: 200, source: source)
            case .whole: machine.sampled(.inconclusive(Reason(.noRanges)), source: source, offered: nil)
            default: machine.sampled(.inconclusive(Reason(.tooLittle)), source: source, offered: nil)
            }
        } else {
            machine.samplingFailed("refused", code: .network, source: source, on: id, at: time, random: 0.5)
        }
        tasks[id]?.task = .idle
        isRung = true
    }

    private mutating func setAside() {
        file = [:]
        restarts += 1
        loseReaders()
    }

    private mutating func endSync(
        _ done: (snapshot: RangeSet<ByteCount>, file: [Int: RangeSet<ByteCount>], until: Double, succeeds: Bool)
    ) {
        sync = nil
        let before = machine.bytes.claimed
        machine.checkpointEnded(done.snapshot, succeeded: done.succeeds, at: time)
        let added = machine.bytes.claimed.subtracting(before)
        for (content, ranges) in file where !ranges.intersection(added).isSubset(of: done.file[content] ?? RangeSet()) {
            violations.append("claimed what was not written when the sync began")
        }
        if !done.succeeds, !added.isEmpty { violations.append("claimed after a failed sync") }
        isRung = true
    }
}
