import FerryCore
import HTTPTypes
import NIOCore
import Synchronization
import SystemPackage

extension DownloadDriver {
    func open(_ id: ConnectionID) {
        let wasBackingOff = state.withLock { state in
            defer { state.reported.isBackingOff = false }
            return state.reported.isBackingOff
        }
        if wasBackingOff { report(.state(.downloading)) }
        state.withLock { state in
            // owner: state.tasks, awaited in drain.
            state.tasks.connections[id] = Task(executorPreference: loop) { await self.connection(id) }
        }
    }

    /// Runs one connection, from its first request to its last.
    private func connection(_ id: ConnectionID) async {
        var permit = ConnectionPermit(environment.hosts)
        var continues = true
        while continues && !Task.isCancelled {
            // Other downloads wait for the host, so a download with several connections gives one up.
            if permit.isWanted, givesWay(id) { break }
            let order = state.withLock { $0.machine.next(for: id, at: environment.clock.now()) }
            switch order {
            case .leave: continues = false
            case .restart(let reason): continues = await restart(reason)
            case .prove(let source):
                switch await admit(id, to: host(of: source), &permit) {
                case .atOnce: await prove(source: source, on: id)
                case .afterWaiting: continue
                case .not: continues = false
                }
            case .fetch(let fetch):
                switch await admit(id, to: host(of: fetch.source), &permit) {
                case .atOnce: continues = await perform(fetch, on: id, &permit)
                // The machine's next order may have changed during the wait.
                case .afterWaiting: continue
                case .not: continues = false
                }
            }
        }
        permit.leave()
        state.withLock { state in
            state.machine.left(id, at: environment.clock.now())
            state.tasks.connections[id] = nil
        }
        updates.notify()
    }

    /// Performs one request. Returns whether the connection may perform another.
    private func perform(
        _ fetch: TransferMachine.Fetch, on id: ConnectionID, _ permit: inout ConnectionPermit
    ) async -> Bool {
        var response: TransferResponse
        let verdict: ResponseVerdict
        let asked = environment.clock.now()
        do throws(TransferFailure) {
            var request = transferRequest(for: fetch, on: id)
            request.judgesHost = state.withLock { !$0.machine.hasOthers(than: id) }
            response = try await environment.transport.fetch(request)
            environment.metrics.answered(response.head.status, after: environment.clock.now() - asked)
            verdict = try await judge(&response, asked: fetch.ask, source: fetch.source) {
                state.withLock { $0.machine.awaitsFirstBytes(on: id, at: environment.clock.now()) }
            }
        } catch {
            failed(error, on: id)
            return false
        }
        // allow(origin): counts connections per host; carries no secret.
        if permit.host != response.url.origin, !permit.tryTake(response.url.origin) {
            // A redirect led to a host without room.
            if givesWay(id) { return false }
            if isFirstVisit(response.url, of: fetch.source) {
                ended(id, .stopped)
                return true
            }
            permit.join(response.url.origin)
        }
        let action = state.withLock { state in
            let action = state.machine.headReceived(
                verdict, on: id, at: environment.clock.now(), random: environment.random())
            switch action {
            case .begin, .restartWith:
                state.links.primary = fetch.source
                state.storage.leave()
                state.digest.restarted()
                addMirrors(response.links.mirrors, &state)
                followDescription(in: response, &state)
            default: break
            }
            switch action {
            case .drop: break
            // Further requests do not follow a response that was not used.
            case .leave where state.machine.phase != .finishing: state.links.refused(response)
            case .leave, .begin, .restartWith, .read, .unchanged:
                state.links.answered(fetch.source, response)
                state.links.finalURL = response.url
            }
            return action
        }
        do throws(DownloadError) {
            switch action {
            case .drop:
                ended(id, .stopped)
                return true
            case .leave:
                ended(id, .stopped)
                return false
            case .unchanged:
                finishUnchanged()
                return false
            case .begin(let representation) where isSmall(representation):
                let url = response.url
                let receiving = environment.book.receive(from: response.url)
                defer { receiving.end() }
                guard
                    try await files.stay({ disk async throws(DownloadError) in
                        try await replace(nil, representation, url: url, disk)
                    })
                else { return false }
                return try await read(response.body, of: url.host, verdict.messageDigest, on: id, nil)
            case .begin, .restartWith, .read:
                let host = response.url.host
                let receiving = environment.book.receive(from: response.url)
                defer { receiving.end() }
                return try await files.stay { disk async throws(DownloadError) in
                    switch action {
                    case .begin(let representation):
                        guard try await replace(nil, representation, url: response.url, disk) else { return false }
                    case .restartWith(let reason, let representation):
                        guard try await replace(reason, representation, url: response.url, disk) else { return false }
                    default: break
                    }
                    return try await read(response.body, of: host, verdict.messageDigest, on: id, disk)
                }
            }
        } catch {
            ended(id, .stopped)
            fail(error)
            return false
        }
    }

    /// Writes the body, piece by piece, and compares it with its `Content-Digest` if the server sent one that counts.
    /// Returns
    /// whether the connection may perform another request. The body of a small file is read without a disk.
    private func read(
        _ body: TransferBody, of host: String, _ digest: Checksum?, on id: ConnectionID, _ disk: Disk?
    ) async throws(DownloadError) -> Bool {
        let isDistrusted = request.ignoresEarlierChecksum || state.withLock { $0.machine.distrustsMessageDigests }
        var check = isDistrusted ? nil : digest.map { MessageCheck($0) }
        if check != nil { state.withLock { $0.machine.checks(id) } }
        while true {
            let piece: ByteBuffer?
            do throws(TransferFailure) {
                // allow(body): the bytes of a file, whose stalls are watched.
                piece = try await body.next()
            } catch {
                switch error.kind {
                case .cancelled: ended(id, .stopped)
                case .malformed where state.withLock({ $0.machine.openConnections == 1 }):
                    // A retry would return the same response.
                    throw DownloadError(error)
                case .broken where error.isCutOff: ended(id, .cutOff(.phrase(error.phrase)))
                default: ended(id, .broken(.phrase(error.phrase)))
                }
                return true
            }
            guard let piece else {
                if let check, let actual = check.mismatch() {
                    try await takeBack(check, actual: actual, on: id)
                    ended(id, .spoiled(expected: "\(check.expected)", actual: "\(actual)"))
                } else {
                    ended(id, .complete)
                }
                return true
            }
            check?.received(piece)
            switch await take(piece, of: host, &check, on: id, disk) {
            case .wanted: break
            case .done:
                ended(id, .stopped)
                return !Task.isCancelled
            case .failed:
                ended(id, .stopped)
                return false
            }
            if Task.isCancelled {
                ended(id, .stopped)
                return false
            }
        }
    }

    private enum Taking { case wanted, done, failed }

    /// The next step for a piece of a body.
    private struct Step {
        /// The offset of the next bytes of the piece; `nil` if none are left.
        var placement: SegmentPlanner.Placement?
        /// The place of the file to which the placement belongs.
        var place: Place?
        var wantsTick = false
        var mustWait = false
        var mustLook = false
        /// Whether the rest of the range belongs to another connection now; `nil` if something is to be awaited first.
        var mustCut: Bool?
    }

    /// Writes one piece and returns whether the body must be read on.
    ///
    /// A piece with one destination acquires the lock twice: for its offset, and after it is written.
    private func take(
        _ piece: ByteBuffer, of host: String, _ check: inout MessageCheck?, on id: ConnectionID, _ disk: Disk?
    ) async -> Taking {
        let count = piece.readableBytes
        let isLimited =
            throttle.isLimited || environment.throttle.isLimited || context.throttle?.isLimited == true
            || environment.book.limitsBytes
        var offset = 0
        var step = step(left: count, on: id, isLimited) { state in
            let now = environment.clock.now()
            state.machine.arrived(ByteCount(count), on: id, at: now)
            state.meter.record(ByteCount(count), at: now)
            state.reported.arrived(ByteCount(count))
        }
        while let placement = step.placement {
            switch placement {
            case .stop: return .done
            case .skip(let skipped):
                offset += Int(skipped)
                step = self.step(left: count - offset, on: id, isLimited) { _ in }
            case .write(let range):
                let part = offset..<offset + Int(range.upperBound - range.lowerBound)
                do throws(FileError) { try await write(piece, part, at: range.lowerBound, to: step.place, disk) } catch
                {
                    state.withLock { $0.machine.writeFailed(on: id) }
                    faulted(error)
                    return .failed
                }
                check?.wrote(range)
                offset = part.upperBound
                var isAwaited = false
                step = self.step(left: count - offset, on: id, isLimited) { isAwaited = $0.machine.wrote(on: id) }
                if isAwaited { wakeReaders() }
                if step.wantsTick { updates.notify() }
            }
        }
        // Closing the connection is cheaper than reading to the end.
        if let mustCut = step.mustCut { return mustCut ? .done : .wanted }
        if step.mustLook, let disk {
            do throws(DownloadError) { try checkRoom(disk) } catch {
                fail(error)
                return .failed
            }
        }
        if step.mustWait { await waitForCheckpoint() }
        let since = environment.clock.now()
        await throttle.passed(ByteCount(count))
        await context.throttle?.passed(ByteCount(count))
        await environment.book.passed(ByteCount(count), from: host)
        await environment.throttle.passed(ByteCount(count))
        return state.withLock { state in
            let now = environment.clock.now()
            return state.machine.asks(id, at: now, limited: isLimited ? now - since : .zero)
        } ? .wanted : .done
    }

    /// Records the result of a piece, and decides about the rest in the same critical section.
    private func step(
        left: Int, on id: ConnectionID, _ isLimited: Bool, _ record: (inout State) -> Void
    ) -> Step {
        state.withLock { state in
            record(&state)
            var step = Step(wantsTick: state.machine.wantsTick)
            if left > 0 {
                step.placement = state.machine.place(ByteCount(left), on: id)
                step.place = state.storage.place
                return step
            }
            let planner = state.machine.planner
            step.mustLook = planner.total == nil && planner.writtenBytes >= state.space.enoughUntil
            step.mustWait = state.machine.mustWaitForCheckpoint
            if !step.mustLook, !step.mustWait, !isLimited {
                step.mustCut = !state.machine.asks(id, at: environment.clock.now())
            }
            return step
        }
    }

    private func write(
        _ piece: ByteBuffer, _ part: Range<Int>, at offset: ByteCount, to place: Place?, _ disk: Disk?
    ) async throws(FileError) {
        guard let sink = place?.sink else { throw FileError(.write, "a file that has no place yet", kind: .closed) }
        if try sink.write(piece, part, at: offset, disk) { return }
        // The small file has moved to the disk meanwhile.
        try await files.run { disk throws(FileError) in _ = try sink.write(piece, part, at: offset, disk) }
    }

    /// Applies back-pressure while too many bytes are unsynced.
    private func waitForCheckpoint() async {
        while !Task.isCancelled {
            let seen = checkpointDone.count
            if !state.withLock({ $0.machine.mustWaitForCheckpoint }) { return }
            updates.notify()
            await checkpointDone.wait(after: seen)
        }
    }

    private func ended(_ id: ConnectionID, _ end: TransferMachine.End) {
        state.withLock { state in
            state.machine.ended(id, end, at: environment.clock.now(), random: environment.random())
        }
        updates.notify()
    }

    /// Handles a request that failed before its response head.
    private func failed(_ failure: TransferFailure, on id: ConnectionID) {
        if failure.kind == .cancelled { return ended(id, .stopped) }
        if case .held(let time) = failure.kind {
            state.withLock { $0.machine.held(id, until: time, .phrase(failure.phrase), at: environment.clock.now()) }
            return updates.notify()
        }
        environment.metrics.requestFailed()
        let isLast = state.withLock { state in
            if failure.kind == .dns(permanent: true) { state.links.missingNames += 1 }
            let passes =
                failure.isTransient || state.machine.openConnections > 1
                || (failure.kind == .dns(permanent: true) && state.links.missingNames < 3)
            if passes {
                state.machine.ended(
                    id,
                    .failedBeforeHead(
                        .phrase(failure.phrase), isTransient: true, isRefused: failure.kind == .refused),
                    at: environment.clock.now(), random: environment.random())
            }
            return !passes && !state.machine.failedForGood(id, .phrase(failure.phrase))
        }
        if isLast { fail(DownloadError(failure)) }
        updates.notify()
    }
}
