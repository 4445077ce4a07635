/// Changes by the user and the network during a transfer.
extension TransferMachine {
    /// The network has changed: cancels all connections and reconnects at once. Neither this nor a late failure of the
    /// old connections counts as a failed attempt.
    package mutating func reconnect(at now: Duration) {
        guard !phase.isOver, phase != .finishing else { return }
        for id in connections.keys { cut(id, .abandoned) }
        openings.notBefore = now
        retryNow(at: now)
    }

    /// Ends a back-off early.
    package mutating func retryNow(at now: Duration) {
        guard case .waiting = phase else { return }
        enter(.waiting(until: now))
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
        sources.add(names.count)
    }

    /// An existing file has the length of the representation: its samples are compared, with none of it fetched.
    package mutating func examine() {
        guard let total = planner.total else { return }
        planner = SegmentPlanner(total: total, claimed: RangeSet(0..<total))
        file.isExamined = true
        sources[sources.primary].trust = .unproven
        enter(.opening)
    }

    /// The existing file is another one: begins with nothing.
    package mutating func leaveExamined() {
        file.isExamined = false
        restarted()
        file.disown()
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
        guard phase.isActive else { return }
        if others(than: id) > 0 {
            giveUp(id, at: now)
            openings.delay(until: time)
        } else {
            enter(.waiting(until: time))
            report(
                .retrying(attempt: max(1, retry.attempts), delay: max(.zero, time - now), reason: reason))
        }
    }

    private mutating func giveUp(_ id: ConnectionID, at now: Duration) {
        cut(id, .abandoned)
        policy.withheld(working: others(than: id))
        openings.delay(until: now + .seconds(1))
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
        let lenders = sources.lent.keys.sorted()
        var doubtful = RangeSet<ByteCount>()
        if !lenders.isEmpty, sources.hasPrimary {
            for ranges in sources.lent.values { doubtful.formUnion(ranges) }
            for source in lenders where sources[source].trust != .dropped { drop(source, Reason(.digestRefuted)) }
            sources.forgetLent()
            planner.forget(doubtful)
            readers.refute(doubtful)
        } else if sources.untried != nil {
            sources.refutation = error
        } else {
            return nil
        }
        enter(.opening)
        return doubtful
    }

    /// Forgets damaged bytes, which are fetched again; `nil` once they are hopeless, if there is no other source.
    ///
    /// Mirrors that gave some of them are dropped. The primary source may be right the next time.
    private mutating func fetchAgain(_ damaged: RangeSet<ByteCount>) -> RangeSet<ByteCount>? {
        var suspects = sources.lent.keys.sorted().filter { source in
            sources.lent[source]?.isDisjoint(damaged) == false && sources[source].trust != .dropped
                && sources.hasOther(than: source)
        }
        if suspects.isEmpty {
            sources.spoiled.add(damaged)
            if sources.spoiled.isHopeless {
                guard sources.hasPrimary, sources.hasOther(than: sources.primary) else { return nil }
                suspects = [sources.primary]
                sources.spoiled.reset()
            }
        }
        for source in suspects { drop(source, Reason(.digestRefuted)) }
        sources.forgetLent(damaged)
        planner.forget(damaged)
        readers.refute(damaged)
        enter(.opening)
        return damaged
    }

    /// Returns the next order of the search for a source with another file.
    mutating func searchOrder(_ id: ConnectionID, _ error: DownloadError) -> Order {
        let refuted = sources.primary
        if sources.turnToRival() {
            drop(refuted, Reason(.digestRefuted))
            file.disown()
            return .restart(Reason(.digestRefuted))
        }
        if let source = sources.untried { return prove(source, on: id) }
        sources.refutation = nil
        end(error)
        return .leave
    }
}

/// Responses that do not match their own digest (RFC 9530 Content-Digest).
extension TransferMachine {
    /// The response of this connection will be verified with its digest; the file is not finished before that.
    package mutating func checks(_ id: ConnectionID) { connections[id]?.body?.isChecked = true }

    /// The response of this connection did not match its digest: discards its written bytes.
    ///
    /// The ranges are withheld until ``allow(_:)``; then the connection ends with ``End/spoiled(expected:actual:)``.
    package mutating func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        // A connection that was cut or released meanwhile may have written to a previous file.
        guard planner.segments[id] != nil else { return }
        planner.forget(ranges)
        readers.refute(ranges)
        sources.spoiled.add(ranges)
    }

    /// Whether the file's own digest alone counts, because the server's Content-Digest was wrong too often.
    package var distrustsMessageDigests: Bool { sources.spoiled.distrustsMessageDigests }

    /// Releases forgotten ranges for fetching: the journal claims none of them any more.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { planner.allow(ranges) }

    /// Whether a response that is being read will be verified with its digest.
    var isChecking: Bool { connections.values.contains { $0.body?.isChecked == true && !$0.isCut } }

    mutating func wasSpoiled(_ expected: String, _ actual: String, _ id: ConnectionID, at now: Duration, random: Double)
    {
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
        guard others(than: id) > 0 else { return wait(reason, wish: nil, code: .checksum, at: now, random: random) }
        note(Reason(.partFetchedAgain, reason))
        cut(id)
        openings.delay(until: now + .milliseconds(200))
    }
}
