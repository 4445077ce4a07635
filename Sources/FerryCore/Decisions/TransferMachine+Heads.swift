extension TransferMachine {
    /// Records a response head that can be judged only with the first bytes of the body; the stall timer starts.
    package mutating func awaitsFirstBytes(on id: ConnectionID, at now: Duration) {
        change(id) {
            $0.body = Connection.Body(kind: .unjudged)
            $0.demand = .asking
            $0.mark(at: now)
        }
    }

    /// Decides how to continue after the response to a connection's request.
    package mutating func headReceived(
        _ verdict: ResponseVerdict, on id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        guard let connection = connections[id], !connection.isCut, let (fetch, since) = connection.request else {
            return .leave
        }
        hasResponse = true
        latency.record(now - since, isFirst: connection.isNew)
        limits.present.times.firstByte = max(limits.present.times.firstByte, (now - since).seconds)
        change(id) {
            $0.mark(at: now)
            $0.lastByte = now
            $0.demand = .asking
            $0.isNew = false
        }
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
                return dropOrEnd(fetch, error.reason, error)
            }
            if let former = file.former,
                let reason = ReplacementPolicy.refusal(of: representation, insteadOf: former, rules)
            {
                return deadLink(reason, 200, fetch)
            }
            guard accepts(representation) else { return .leave }
            take(representation, from: fetch.source)
            stream(representation, on: id, isPlaced: false)
            return .begin(representation)
        case .goOn(let range, let representation, let proof):
            let offset = planner.writtenBytes
            goOn(representation, from: fetch.source, join: proof)
            planner.assignStream(id, from: range.lowerBound, asked: range.upperBound)
            reads(.init(kind: .rest), on: id)
            report(.resumed(offset: offset, totalBytes: planner.total, reason: reason(proof)))
            return .read
        case .rewind(let representation, let proof):
            let offset = planner.writtenBytes
            goOn(representation, from: fetch.source, join: proof)
            policy.limitToSingleConnection()
            stream(representation, on: id, isPlaced: true)
            report(
                .resumed(
                    offset: offset, totalBytes: planner.total,
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
            // What was written to an output cannot be read again.
            if settings.isStream { return restart(reason, nil, fetch, id, isChange: file.identity.hasValidator) }
            note(Reason(.comparingSamples, reason))
            sources[fetch.source].trust = .unproven
            return .drop
        case .changed(let reason, let new): return restart(reason, new, fetch, id, isChange: true)
        case .restart(let reason, let new): return restart(reason, new, fetch, id, isChange: false)
        case .complete(let total):
            planner.learn(total: total)
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
            return retreat(fetch, reason) ?? dropOrEnd(fetch, reason, DownloadError(.refused, reason))
        }
    }

    /// Judges a response while running: it must be of the settled representation.
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
            // The server ignores Range on this connection; the others continue.
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
            guard fetch.source == sources.primary, others(than: id) > 0, let claim else {
                return dismiss(reason, fetch, id, at: now, random: random)
            }
            if file.claim == claim {
                changed(reason)
                return .leave
            }
            file.claim = claim
            connections[id]?.misfits += 1
            let isHopeless = connections[id]?.misfits ?? 0 > 2
            return isHopeless ? dismiss(reason, fetch, id, at: now, random: random) : .drop
        case .busy(let status, let wish):
            objected(Reason(.serverAnswered, "\(status)"), id, wish: wish, at: now, random: random)
            return .leave
        case .deadLink(let reason, let status):
            if let action = retreat(fetch, reason) { return action }
            guard others(than: id) > 0 else { return deadLink(reason, status, fetch) }
            // A document in place of the file is how some servers refuse one of several connections.
            return status < 300
                ? dismiss(reason, fetch, id, at: now, random: random) : stepBack(fetch, reason)
        case .unusable(let reason), .refused(let reason):
            if case .refused = verdict, let action = retreat(fetch, reason) { return action }
            connections[id]?.misfits += 1
            return connections[id]?.misfits ?? 0 < 2 ? .drop : stepBack(fetch, reason)
        case .complete: return .leave
        }
    }

    // MARK: Steps

    /// Reads a range of the settled representation.
    private mutating func read(
        _ range: Range<ByteCount>, _ fetch: Fetch, _ id: ConnectionID, join proof: Proof
    ) -> HeadAction {
        if fetch.source == sources.primary {
            file.join(proof)
        } else {
            file.join(min(proof, sources[fetch.source].trust == .proven ? .sampled : .none))
        }
        planner.answered(id, to: range.upperBound)
        reads(.init(kind: .range), on: id)
        return .read
    }

    private mutating func reads(_ body: Connection.Body, on id: ConnectionID) {
        change(id) {
            $0.body = body
            $0.misfits = 0
        }
    }

    /// Reads the whole body from byte 0.
    private mutating func stream(_ representation: Representation, on id: ConnectionID, isPlaced: Bool) {
        planner.assignStream(id, from: 0, asked: representation.identity.totalBytes ?? .max)
        reads(.init(kind: .whole, isPlaced: isPlaced), on: id)
    }

    /// Returns the error if a total is known and is not the expected one.
    func otherSize(_ total: ByteCount?) -> DownloadError? {
        guard let total, let expected = settings.expectedBytes, total != expected else { return nil }
        return DownloadError(.checksum, ErrorPhrase(.otherSize, "\(total)", "\(expected)"))
    }

    private mutating func accepts(_ representation: Representation) -> Bool {
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

    /// Makes this representation the one that is downloaded, without partial content.
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
            settings.isNewSource = false
        }
        if planner.total == nil, let total = representation.identity.totalBytes { planner.learn(total: total) }
        file.join(source == sources.primary ? proof : min(proof, sources[source].trust == .proven ? .sampled : .none))
        settle(on: source, representation)
    }

    private mutating func settle(on source: Int, _ representation: Representation) {
        sources.settle(on: source, representation.identity)
        file.asksWhole = false
        enter(.running)
        if !joinsParts { policy.limitToSingleConnection() }
        if allowsParts { policy.began(roundTrip: latency.roundTrip, left: planner.remainingBytes ?? 0) }
    }

    private mutating func restart(
        _ reason: Reason, _ representation: Representation?, _ fetch: Fetch, _ id: ConnectionID, isChange: Bool
    ) -> HeadAction {
        if fetch.source != sources.primary {
            return dropOrEnd(fetch, reason, DownloadError(.conflict, reason, recovery: .needsUser))
        }
        guard mayRestart(reason, isChange: isChange) else { return .leave }
        guard let representation else {
            enter(.reopening(reason))
            return .leave
        }
        guard accepts(representation) else { return .leave }
        take(representation, from: fetch.source)
        stream(representation, on: id, isPlaced: false)
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
}
