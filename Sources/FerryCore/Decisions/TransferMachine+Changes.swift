/// Changes by the user and the network during a transfer.
extension TransferMachine {
    /// The network has changed: cancels all connections and reconnects at once. Neither this nor a late failure of the
    /// old connections counts as a failed attempt.
    package mutating func reconnect(at now: Duration) {
        guard phase != .ended, !isFinishing else { return }
        for id in connections.keys { cut(id, .abandoned) }
        notBefore = now
        retryNow(at: now)
    }

    /// Ends a back-off early.
    package mutating func retryNow(at now: Duration) {
        guard case .waiting = phase else { return }
        phase = .waiting(until: now)
    }

    /// Changes the user's connection limit. Connections above it are cancelled, newest first.
    package mutating func set(maxConnections: Int) {
        settings.maxConnections = max(1, maxConnections)
        policy.set(limit: settings.maxConnections)
        var count = connections.values.count { !$0.isCut }
        for id in connections.keys.sorted(by: { $0.rawValue > $1.rawValue })
        where count > settings.maxConnections && connections[id]?.isCut == false {
            cut(id)
            count -= 1
        }
    }

    /// Adds mirrors that the server has named: each is used after samples have matched, and left if they differ.
    package mutating func add(mirrors names: [String]) {
        settings.sourceNames += names
        sources += names.map { _ in Source(trust: .unproven) }
    }

    /// An existing file has the length of the representation: its samples are compared, with none of it fetched.
    package mutating func examine() {
        guard let total = planner.total else { return }
        planner = SegmentPlanner(total: total, claimed: RangeSet(0..<total))
        isExamining = true
        sources[primary].trust = .unproven
        phase = .opening
    }

    /// The existing file is another one: begins with nothing.
    package mutating func leaveExamined() {
        isExamining = false
        isFinishing = false
        restarted()
    }

    /// Whether other connections may still deliver.
    package func hasOthers(than id: ConnectionID) -> Bool { others(than: id) > 0 }

    /// The host's connection limit is used up by other downloads: this connection ends, and the next is opened after a
    /// delay. The server is not at fault, so no failure is counted and the ceiling stays.
    package mutating func noRoom(for id: ConnectionID, at now: Duration) {
        planner.release(id)
        giveUp(id, at: now)
    }

    /// The connection's host takes no request before `time`: the connection ends, and a download without others waits.
    /// Counts no failed attempt.
    package mutating func held(_ id: ConnectionID, until time: Duration, _ reason: Reason, at now: Duration) {
        guard connections[id] != nil else { return }
        planner.release(id)
        change(id) { $0.activity = .idle }
        guard phase == .running || phase == .opening else { return }
        if others(than: id) > 0 {
            giveUp(id, at: now)
            notBefore = max(notBefore, time)
        } else {
            phase = .waiting(until: time)
            events.append(
                .retrying(attempt: max(1, retry.attempts), delay: max(.zero, time - now), reason: reason))
        }
    }

    private mutating func giveUp(_ id: ConnectionID, at now: Duration) {
        cut(id, .abandoned)
        policy.withheld(working: others(than: id))
        notBefore = max(notBefore, now + .seconds(1))
    }

    /// The sources of several connections that deliver; none while one of them is ending.
    package var sourcesInUse: Set<Int> {
        guard connections.count > 1, connections.values.allSatisfy({ !$0.isCut }) else { return [] }
        return Set(connections.values.map(\.source))
    }

    /// Ends the newest connection to one of these sources in the middle of its response, as ``noRoom(for:at:)`` does
    /// between requests: other downloads wait for the host. The last connection stays.
    package mutating func makeRoom(at sources: Set<Int>, now: Duration) {
        let found = connections.filter { sources.contains($0.value.source) && !$0.value.isCut }.keys
        guard let id = found.max(by: { $0.rawValue < $1.rawValue }), hasOthers(than: id) else { return }
        giveUp(id, at: now)
    }

    /// The retry state for the next run.
    package var memory: RetryMemory {
        var memory = RetryMemory()
        memory.attempts = retry.attempts
        memory.changes = changes
        memory.mostBytes = mostWritten
        return memory
    }
}

/// A complete file that does not have its digest, although another of its sources may have the right bytes.
///
/// First the bytes of mirrors are fetched again from the primary source. If that does not help, or there are none, a
/// source with samples that differ from the file becomes the primary one, and the download begins again with it. Each
/// step drops a source for good, and sources with equal samples are not tried, because their file would be the same.
extension TransferMachine {
    /// Records that the complete file does not have its digest. Returns the ranges that are forgotten, and withheld until
    /// ``allow(_:)``; `nil` if no other source is left, and the download ends with the error.
    ///
    /// - Parameter damaged: The pieces that do not have their digests; empty if that is not known.
    package mutating func refuted(
        _ error: DownloadError, damaged: RangeSet<ByteCount> = RangeSet()
    ) -> RangeSet<ByteCount>? {
        if !damaged.isEmpty { return fetchAgain(damaged) }
        let lenders = fromMirrors.keys.sorted()
        var doubtful = RangeSet<ByteCount>()
        if !lenders.isEmpty, sources[primary].trust != .dropped {
            for ranges in fromMirrors.values { doubtful.formUnion(ranges) }
            for source in lenders where sources[source].trust != .dropped { drop(source, Reason(.digestRefuted)) }
            fromMirrors = [:]
            planner.forget(doubtful)
            refuteReaders(of: doubtful)
        } else if sources.indices.contains(where: { isUntried($0) }) {
            refutation = error
        } else {
            return nil
        }
        isFinishing = false
        phase = .opening
        return doubtful
    }

    /// Forgets damaged bytes, which are fetched again; `nil` after ``mostSpoiled`` times, if there is no other source.
    ///
    /// Mirrors that gave some of them are dropped. The primary source may be right the next time.
    private mutating func fetchAgain(_ damaged: RangeSet<ByteCount>) -> RangeSet<ByteCount>? {
        var suspects = fromMirrors.keys.sorted().filter { source in
            fromMirrors[source]?.isDisjoint(damaged) == false && sources[source].trust != .dropped
                && hasSource(beside: source)
        }
        if suspects.isEmpty {
            spoil(damaged)
            if isHopeless {
                guard sources[primary].trust != .dropped, hasSource(beside: primary) else { return nil }
                suspects = [primary]
                spoiled = spoiled.map { _ in RangeSet() }
            }
        }
        for source in suspects { drop(source, Reason(.digestRefuted)) }
        for source in fromMirrors.keys { fromMirrors[source]?.subtract(damaged) }
        planner.forget(damaged)
        refuteReaders(of: damaged)
        isFinishing = false
        phase = .opening
        return damaged
    }

    /// Whether the source may have another file than the refuted one.
    private func isUntried(_ source: Int) -> Bool {
        source != primary && (sources[source].isRival || sources[source].trust == .unproven)
    }

    /// Returns the next order of the search for a source with another file.
    mutating func searchOrder(_ id: ConnectionID, _ error: DownloadError) -> Order {
        if let rival = sources.indices.first(where: { sources[$0].isRival }) {
            drop(primary, Reason(.digestRefuted))
            for index in sources.indices where sources[index].isRival { sources[index] = Source(trust: .unproven) }
            (primary, refutation) = (rival, nil)
            return .restart(Reason(.digestRefuted))
        }
        if let source = sources.indices.first(where: { isUntried($0) }) { return prove(source, on: id) }
        refutation = nil
        end(error)
        return .leave
    }
}

/// Responses that do not match their own digest (RFC 9530 Content-Digest).
extension TransferMachine {
    /// A byte that was received in so many responses with a wrong digest will not be retried at this source.
    static let mostSpoiled = 3

    /// The response of this connection will be verified with its digest; the file is not finished before that.
    package mutating func checks(_ id: ConnectionID) { connections[id]?.body?.isChecked = true }

    /// The response of this connection did not match its digest: discards its written bytes.
    ///
    /// The ranges are withheld until ``allow(_:)``; then the connection ends with ``End/spoiled(expected:actual:)``.
    package mutating func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        // A connection that was cut or released meanwhile may have written to a previous file.
        guard planner.segments[id] != nil else { return }
        planner.forget(ranges)
        refuteReaders(of: ranges)
        spoil(ranges)
    }

    /// Counts bytes that did not have their digest.
    private mutating func spoil(_ ranges: RangeSet<ByteCount>) {
        var again = ranges
        for index in spoiled.indices {
            let before = spoiled[index]
            spoiled[index].formUnion(again)
            again.formIntersection(before)
        }
    }

    /// Releases forgotten ranges for fetching: the journal claims none of them any more.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { planner.allow(ranges) }

    /// Whether some bytes were received in ``mostSpoiled`` responses with a wrong digest.
    private var isHopeless: Bool { spoiled.last?.isEmpty == false }

    /// Whether a response that is being read will be verified with its digest.
    var isChecking: Bool { connections.values.contains { $0.body?.isChecked == true && !$0.isCut } }

    mutating func wasSpoiled(_ expected: String, _ actual: String, _ id: ConnectionID, at now: Duration, random: Double)
    {
        guard phase == .running || phase == .opening else { return }
        let phrase = ErrorPhrase(.wrongMessageDigest, expected, actual)
        let reason = Reason(.wrongMessageDigest, expected, actual)
        if isHopeless, rules.hasDigest {
            if !distrustsContentDigests { note(Reason(.contentDigestsLeft)) }
            distrustsContentDigests = true
        } else if isHopeless {
            if failedForGood(id, reason) {
                spoiled = spoiled.map { _ in RangeSet() }
                return
            }
            return end(DownloadError(.checksum, phrase, suggestion: ErrorPhrase(.giveOwnChecksum)))
        }
        guard others(than: id) > 0 else { return wait(reason, wish: nil, code: .checksum, at: now, random: random) }
        note(Reason(.partFetchedAgain, reason))
        cut(id)
        notBefore = max(notBefore, now + .milliseconds(200))
    }
}
