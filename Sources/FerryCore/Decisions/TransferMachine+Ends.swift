extension TransferMachine {
    // MARK: Bytes

    /// Places the next `count` bytes of a connection's body. Call again for the rest if the placement covers fewer.
    package mutating func place(_ count: ByteCount, on id: ConnectionID) -> SegmentPlanner.Placement {
        guard let connection = connections[id], !connection.isCut else { return .stop }
        let placement = planner.place(id, count: count)
        if case .stop = placement, !connection.yields, planner.extend(id) { return planner.place(id, count: count) }
        return placement
    }

    /// Records received bytes. Called once for each chunk, before it is placed.
    package mutating func arrived(_ count: ByteCount, on id: ConnectionID, at now: Duration) {
        arrivals.add(count)
        let enough = settings.stallBytes
        var (hasBrought, isBeginning, wait, trip) = (false, false, Duration.zero, 0.0)
        let source: Int? = change(id) { connection in
            connection.bytes += count
            if connection.bytes - connection.markBytes >= enough {
                connection.markBytes = connection.bytes
                connection.markTime = now
                hasBrought = true
            }
            if connection.isAsking {
                wait = now - connection.lastByte
                trip = connection.shortestTrip
                connection.demand = .paused(since: now)
            }
            connection.receives(count)
            if let body = connection.body, body.isProbe, body.bytes == count { isBeginning = true }
            connection.tickBytes += count
            connection.lastByte = now
            return connection.source
        }
        if let source { sources.delivers(source) }
        limits.arrived(count, after: wait.seconds, trip: trip, at: now)
        if hasBrought { arrivals.brought(at: now) }
        if isBeginning, policy.target > 1 { openings.areUrgent = true }
    }

    /// Records that the write of ``place(_:on:)`` has returned. Returns whether a reader
    /// waits for one of its bytes.
    @discardableResult
    package mutating func wrote(on id: ConnectionID) -> Bool {
        // For each piece, and mostly there are neither mirrors nor readers.
        let range = sources.count > 1 || !readers.isEmpty ? planner.segments[id]?.writing : nil
        if sources.count > 1, let range, let source = connections[id]?.source { sources.brought(range, by: source) }
        planner.wrote(id)
        // Fewer bytes would count as a stall, so they are no progress: a server that drips would be retried forever.
        retry.progressed(to: planner.writtenBytes, worth: settings.stallBytes)
        if let most = settings.maxBytes, planner.writtenBytes > most {
            end(DownloadError(.tooLarge, ErrorPhrase(.fileLargerThan, "\(most)")))
        }
        return range.map { readers.areAwaiting($0) } ?? false
    }

    package mutating func writeFailed(on id: ConnectionID) { planner.writeFailed(id) }

    /// Reading resumes: the stall timer runs from here. Returns `false` if the connection is to be cancelled instead,
    /// because its segment is done and the server is sending bytes that belong to others.
    ///
    /// - Parameter limited: How long it was suspended because of a rate limit.
    package mutating func asks(_ id: ConnectionID, at now: Duration, limited: Duration = .zero) -> Bool {
        let pause: Duration? = change(id) { connection in
            guard case .paused(let since) = connection.demand else { return .zero }
            connection.demand = .asking
            // Exclude time during which we applied back-pressure.
            let pause = now - since
            connection.markTime += pause
            connection.lastByte = now
            return pause
        }
        if let pause { arrivals.exclude(pause, at: now) }
        limits.present.times.limited += limited.seconds
        limits.present.times.stored += max(0, ((pause ?? .zero) - limited).seconds)
        guard let segment = planner.segments[id] else { return false }
        if segment.position < segment.end || segment.end >= segment.askedEnd { return true }
        return connections[id]?.yields != true && planner.extend(id)
    }

    /// Whether reading is suspended because a kill would lose too many bytes.
    package var mustWaitForCheckpoint: Bool {
        settings.claims && planner.total != nil && planner.unclaimedBytes >= Self.mostUnclaimed
    }

    // MARK: Ends

    /// Bytes below which a broken connection counts as refused by the server.
    private static let worthAnAnswer: ByteCount = 64 << 10

    /// Records the end of a request. The driver then calls ``next(for:at:)``, which returns whether the connection
    /// continues.
    package mutating func ended(_ id: ConnectionID, _ end: End, at now: Duration, random: Double) {
        guard let connection = connections[id] else { return }
        let segment = planner.segments[id]
        planner.release(id)
        change(id) {
            // A response that is left before its end takes its connection with it: the next one begins slowly.
            if end != .complete, $0.body != nil { ($0.isNew, $0.speed) = (true, 0) }
            $0.activity = .idle
        }
        switch (end, connection.cut?.reason) {
        case (.complete, _):
            connections[id]?.misfits = 0
            guard let body = connection.body, let segment else { break }
            if planner.total == nil {
                if body.kind == .whole { sawEnd(at: segment.position) }
            } else if segment.remaining > 0, !planner.isComplete {
                broke(Reason(.endedEarly), id, connection, at: now, random: random)
            }
        case (_, .abandoned?), (.stopped, .superseded?), (.stopped, nil): break
        case (.stopped, .stalled?): stalled(id, connection, at: now, random: random)
        case (.failedBeforeHead(_, isTransient: false, _), _), (.failedBeforeHead, .superseded?): break
        case (.failedBeforeHead(let reason, isTransient: true, let isRefused), _):
            sources[connection.source].failures += 1
            let isUnknown = isRefused && !hasResponse && retry.memory.mostBytes == 0
            failed(reason, id, most: isUnknown ? settings.maxFirstAttempts : nil, at: now, random: random)
        case (.cutOff(let reason), _):
            if connection.body?.kind == .whole, let position = segment?.position, mayBeEnd(position) {
                sawEnd(at: position, cutOff: settings.expectedBytes == nil ? reason : nil)
            } else {
                broke(reason, id, connection, at: now, random: random)
            }
        case (.broken(let reason), _): broke(reason, id, connection, at: now, random: random)
        case (.spoiled(let expected, let actual), _): wasSpoiled(expected, actual, id, at: now, random: random)
        }
        guard planner.isComplete, phase == .running || phase == .finishing, !isChecking else { return }
        // A stream that was cut exactly at its declared end is complete too.
        if connection.body != nil { file.reachedEnd() }
        enter(.finishing)
    }

    /// The body stalled. If no other connection received data in that interval either, the server itself is stalled:
    /// cancel all connections and count one failure.
    private mutating func stalled(_ id: ConnectionID, _ connection: Connection, at now: Duration, random: Double) {
        guard phase.isActive,
            now - (arrivals.lastBrought ?? connection.markTime) >= settings.stallTimeout,
            // Connections under back-pressure are waiting for us, not for the server.
            connections.allSatisfy({ $0.key == id || $0.value.isCut || $0.value.isAsking })
        else { return }
        for other in connections.keys where other != id { cut(other) }
        wait(Reason(.stalled), wish: nil, code: .network, at: now, random: random)
    }

    /// A body without a declared length has ended at `position`; `cutOff` is why, if a digest must show that the file does.
    private mutating func sawEnd(at position: ByteCount, cutOff: Reason? = nil) {
        if let last = planner.written.ranges.last, last.upperBound > position {
            return changed(Reason(.shrank, "\(position)"))
        }
        if let error = otherSize(position) { return end(error) }
        planner.learn(total: position)
        cutOffs.assumed = cutOff
        if cutOff == nil { file.identity.totalBytes = position }
    }

    /// Whether a body without a declared length that was cut off at `position` may be whole: there the file ends as
    /// requested, or, if no size was requested, two bodies in a row were cut off there, and a digest decides.
    private mutating func mayBeEnd(_ position: ByteCount) -> Bool {
        guard planner.total == nil, file.representation?.endsByClose == true, phase.isActive else { return false }
        if let expected = settings.expectedBytes { return expected == position }
        defer { cutOffs.position = position }
        return rules.hasDigest && cutOffs.position == position
    }

    /// The length of the file, unless that is only assumed.
    package var provenTotal: ByteCount? { cutOffs.assumed == nil ? planner.total : nil }

    /// Records that the complete file has its digest, so that it ends where it was assumed to.
    package mutating func provedEnd() {
        if cutOffs.assumed != nil { file.identity.totalBytes = planner.total }
        cutOffs.assumed = nil
    }

    /// Records that the complete file does not have its digest. If its end was only assumed, the cut was one like any
    /// other: returns the ranges that are forgotten, and withheld until ``allow(_:)``. Else returns `nil`.
    ///
    /// Two bodies from the first byte on were cut off at one byte, so the server ignores ranges and will send all of them
    /// again. None is kept, since a wrong one among them would stay; but an output has them.
    package mutating func cutShort(at now: Duration, random: Double) -> RangeSet<ByteCount>? {
        guard let reason = cutOffs.assumed else { return nil }
        cutOffs.assumed = nil
        planner.forgetTotal()
        let forgotten = settings.isStream ? RangeSet() : planner.written
        planner.forget(forgotten)
        readers.refute(forgotten)
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
        if phase == .running, others(than: id) > 0 {
            objected(reason, id, wish: nil, at: now, random: random)
        } else {
            wait(reason, wish: nil, code: .network, most: most, at: now, random: random)
        }
    }

    private mutating func broke(
        _ reason: Reason, _ id: ConnectionID, _ connection: Connection, at now: Duration, random: Double
    ) {
        guard phase.isActive, !planner.isComplete else { return }
        if connection.body?.bytes ?? 0 < Self.worthAnAnswer { return failed(reason, id, at: now, random: random) }
        guard others(than: id) > 0 else {
            return wait(reason, wish: nil, code: .network, at: now, random: random)
        }
        note(Reason(.connectionBroke, reason))
        cut(id)
        openings.delay(until: now + .milliseconds(200))
    }

    /// Removes a connection after its task has ended.
    package mutating func left(_ id: ConnectionID, at now: Duration) {
        planner.release(id)
        connections[id] = nil
        guard connections.isEmpty, phase == .running || phase == .finishing, !planner.isComplete else { return }
        // The next connection settles the identity again.
        enter(.opening)
    }

    /// The partial content was backed up: begins with none.
    package mutating func restarted() {
        replacePlanner(total: nil)
        file.forget()
        sources.restart()
        policy = ConnectionCountPolicy(limit: settings.maxConnections)
        enter(.opening)
    }

    mutating func replacePlanner(total: ByteCount?) {
        cutOffs.assumed = nil
        planner = SegmentPlanner(total: total)
        sources.forgetLent()
        checkpoints.replaceFile()
    }

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
            if planner.total == nil, let total = file.identity.totalBytes { planner.learn(total: total) }
            settings.isNewSource = false
            note(Reason(.samplesMatched))
            file.join(.sampled)
        case .different, .inconclusive:
            let isChange = outcome == .different
            let reason = if case .inconclusive(let reason) = outcome { reason } else { Reason(.samplesDiffer) }
            guard source == sources.primary else {
                sources[source].isRival = isChange
                return drop(source, reason)
            }
            if file.isExamined { return leaveExamined() }
            if !isChange, rules.hasDigest, !settings.doubtsHeld {
                // The digest decides at the end.
                sources[source].trust = .proven
                return
            }
            guard mayRestart(reason, isChange: isChange) else { return }
            sources[source].trust = .proven
            enter(.reopening(reason))
        }
    }

    /// The sampled source has no file to compare: its link is dead, or with `status` `nil` it refuses the request.
    package mutating func samplingRefused(_ reason: Reason, status: Int?, source: Int) {
        let error =
            status.map { DownloadError.deadLink(reason, status: $0, holdsBytes: !planner.written.isEmpty) }
            ?? DownloadError(.refused, reason)
        guard sources.hasOther(than: source) else { return end(sources.deadEnd ?? error) }
        if source == sources.primary { sources.deadEnd = error }
        drop(source, reason)
    }

    /// The sampling connection failed.
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

    /// Ends the download with an error; partial content is kept.
    package mutating func end(_ error: DownloadError) {
        guard !phase.isOver else { return }
        enter(.failing(error))
        for id in connections.keys { cut(id) }
    }

    /// Drops the source of a connection because a retry would give the same result. Returns false if there is no other
    /// source.
    package mutating func failedForGood(_ id: ConnectionID, _ reason: Reason) -> Bool {
        guard let source = connections[id]?.source, sources.hasOther(than: source) else { return false }
        drop(source, reason)
        planner.release(id)
        return true
    }

    // MARK: Waiting

    /// No connection is usable: backs off, or gives up.
    ///
    /// - Parameter most: The maximum of attempts, where it is less than that of the settings.
    mutating func wait(
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
                    suggestion: ErrorPhrase(.runAgain), recovery: .transient(retryAfter: wish)))
        }
    }

    /// The server refused one of several connections: that one ends, the others continue.
    mutating func objected(_ reason: Reason, _ id: ConnectionID, wish: Duration?, at now: Duration, random: Double) {
        // Connections without a response yet are included: each later refusal lowers the ceiling by one.
        let working = others(than: id)
        guard working > 0 else {
            return wait(reason, wish: wish, code: .refused, at: now, random: random)
        }
        cut(id)
        policy.objected(working: working)
        // Of several refusals at once only the last one is reported: before, the number is not known.
        if !connections.contains(where: { $0.key != id && !$0.value.isCut && $0.value.isNew }) {
            note(working == 1 ? Reason(.oneLeft, reason) : Reason(.severalLeft, reason, "\(working)"))
        }
        openings.delay(until: now + max(.milliseconds(500), min(wish ?? .zero, RetryAfter.longest)))
    }
}

/// The ends of bodies without a declared length whose TLS connection was closed without close_notify.
///
/// Some servers never send close_notify, so such an end may be that of the file; but overloaded servers and machines on the
/// way cut connections off too, some of them at the same byte each time. After two cuts at one byte the file is assumed to
/// end there, until its digest decides.
struct CutOffs: Sendable {
    /// Where the last body was cut off.
    var position: ByteCount?
    /// Why the body was cut off whose end is assumed to be the file's, until its digest decides.
    var assumed: Reason?
}
