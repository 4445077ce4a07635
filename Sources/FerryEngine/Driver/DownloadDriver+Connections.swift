import FerryCore
import HTTPTypes
import NIOCore
import Synchronization

extension DownloadDriver {
    func open(_ id: ConnectionID) {
        let wasBackingOff = state.withLock { state in
            defer { state.isBackingOff = false }
            return state.isBackingOff
        }
        if wasBackingOff { report(.state(.downloading)) }
        state.withLock { state in
            // owner: state.tasks, awaited in drain.
            state.tasks[id] = Task(executorPreference: light) { await self.connection(id) }
        }
    }

    /// Runs one connection, from its first request to its last.
    private func connection(_ id: ConnectionID) async {
        var seat = ConnectionPermit(environment.hosts)
        var goesOn = true
        while goesOn && !Task.isCancelled {
            // Other downloads wait for the host, so a download with several connections gives one up.
            if seat.isWanted, givesWay(id) { break }
            let order = state.withLock { $0.machine.next(for: id, at: environment.clock.now()) }
            switch order {
            case .leave: goesOn = false
            case .restart(let reason): goesOn = await restart(reason)
            case .prove(let source):
                switch await admit(id, to: host(of: source), &seat) {
                case .atOnce: await prove(source: source, on: id)
                case .afterWaiting: continue
                case .not: goesOn = false
                }
            case .fetch(let fetch):
                switch await admit(id, to: host(of: fetch.source), &seat) {
                case .atOnce: goesOn = await perform(fetch, on: id, &seat)
                // The machine's next order may have changed during the wait.
                case .afterWaiting: continue
                case .not: goesOn = false
                }
            }
        }
        seat.leave()
        state.withLock { state in
            state.machine.left(id, at: environment.clock.now())
            state.tasks[id] = nil
        }
        updates.notify()
    }

    /// Performs one request. Returns whether the connection may perform another.
    private func perform(
        _ fetch: TransferMachine.Fetch, on id: ConnectionID, _ seat: inout ConnectionPermit
    ) async -> Bool {
        var response: TransferResponse
        let verdict: ResponseVerdict
        do throws(TransferFailure) {
            response = try await environment.transport.fetch(transferRequest(for: fetch))
            verdict = try await judge(&response, fetch, on: id)
        } catch {
            failed(error, on: id)
            return false
        }
        // allow(origin): counts connections per host; carries no secret.
        if seat.host != response.url.origin, !seat.tryTake(response.url.origin) {
            // A redirect led to a host without room.
            if givesWay(id) { return false }
            if isFirstVisit(response.url, of: fetch.source) {
                ended(id, .stopped)
                return true
            }
            seat.join(response.url.origin)
        }
        let action = state.withLock { state in
            let action = state.machine.headReceived(
                verdict, on: id, at: environment.clock.now(), random: environment.random())
            switch action {
            case .begin, .restartWith: (state.primary, state.isReplacing, state.offered) = (fetch.source, true, nil)
            default: break
            }
            if case .drop = action {
            } else {
                state.resolved[fetch.source] = response.redirects.isEmpty ? nil : response.url
                state.finalURL = response.url
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
                guard try await replace(nil, representation, url: response.url) else { return false }
                return try await read(response.body, verdict.messageDigest, on: id)
            case .begin, .restartWith, .read:
                return try await heavily { () async throws(DownloadError) -> Bool in
                    switch action {
                    case .begin(let representation):
                        guard try await replace(nil, representation, url: response.url) else { return false }
                    case .restartWith(let reason, let representation):
                        guard try await replace(reason, representation, url: response.url) else { return false }
                    default: break
                    }
                    return try await read(response.body, verdict.messageDigest, on: id)
                }
            }
        } catch {
            ended(id, .stopped)
            fail(error)
            return false
        }
    }

    /// Writes the body, piece by piece, and compares it with its `Content-Digest` if the server sent one. Returns
    /// whether the connection may perform another request.
    private func read(
        _ body: TransferBody, _ digest: Checksum?, on id: ConnectionID
    ) async throws(DownloadError) -> Bool {
        var check = digest.map { MessageCheck($0) }
        if check != nil { state.withLock { $0.machine.checks(id) } }
        while true {
            let piece: ByteBuffer?
            do throws(TransferFailure) {
                piece = try await body.next()
            } catch {
                switch error.kind {
                case .cancelled: ended(id, .stopped)
                case .malformed where state.withLock({ $0.machine.openConnections == 1 }):
                    // A retry would return the same response.
                    throw DownloadError(error)
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
            switch await take(piece, &check, on: id) {
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

    /// Writes one piece and returns whether the body must be read on.
    private func take(_ piece: ByteBuffer, _ check: inout MessageCheck?, on id: ConnectionID) async -> Taking {
        let count = ByteCount(piece.readableBytes)
        state.withLock { state in
            let now = environment.clock.now()
            state.machine.arrived(count, on: id, at: now)
            state.meter.record(count, at: now)
        }
        var left = count
        var offset = 0
        var mustWait = false
        var mustLook = false
        while left > 0 {
            switch state.withLock({ $0.machine.place(left, on: id) }) {
            case .stop: return .done
            case .skip(let skipped):
                offset += Int(skipped)
                left -= skipped
            case .write(let range):
                let length = Int(range.upperBound - range.lowerBound)
                let result: Result<Void, FileError> = piece.withUnsafeReadableBytes { bytes in
                    do throws(FileError) {
                        try storage.write(
                            UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]), at: range.lowerBound)
                        return .success(())
                    } catch {
                        return .failure(error)
                    }
                }
                if case .failure(let error) = result {
                    state.withLock { $0.machine.writeFailed(on: id) }
                    faulted(error)
                    return .failed
                }
                let wantsCheckpoint: Bool
                (mustWait, wantsCheckpoint, mustLook) = state.withLock { state in
                    let mustWait = state.machine.wrote(on: id)
                    let planner = state.machine.planner
                    let mustLook = planner.total == nil && planner.writtenBytes >= state.roomUntil
                    return (mustWait, state.machine.wantsCheckpoint, mustLook)
                }
                check?.wrote(range)
                if wantsCheckpoint { updates.notify() }
                offset += length
                left -= ByteCount(length)
            }
        }
        if mustLook {
            do throws(DownloadError) { try checkRoom() } catch {
                fail(error)
                return .failed
            }
        }
        if mustWait { await waitForCheckpoint() }
        await throttle.passed(count)
        await context.throttle?.passed(count)
        await environment.throttle.passed(count)
        return state.withLock { state in
            state.machine.asks(id, at: environment.clock.now())
            // The rest of the range now belongs to another connection; closing is cheaper than reading to the end.
            return state.machine.mustCut(id) ? .done : .wanted
        }
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
        let isLast = state.withLock { state in
            if failure.kind == .dns(permanent: true) { state.missingNames += 1 }
            let passes =
                failure.isTransient || state.machine.openConnections > 1
                || (failure.kind == .dns(permanent: true) && state.missingNames < 3)
            if passes {
                state.machine.ended(
                    id, .failedBeforeHead(.phrase(failure.phrase), isTransient: true), at: environment.clock.now(),
                    random: environment.random())
            }
            return !passes && !state.machine.failedForGood(id, .phrase(failure.phrase))
        }
        if isLast { fail(DownloadError(failure)) }
        updates.notify()
    }

    // MARK: Requests

    func transferRequest(for fetch: TransferMachine.Fetch) -> TransferRequest {
        var fields = HTTPFields()
        if let range = fetch.ask.field {
            fields[.range] = range
            if let validator = fetch.ifRange { fields[.ifRange] = validator }
        }
        if let unless = fetch.unless {
            if let etag = unless.etag {
                fields[.ifNoneMatch] = etag
            } else if let date = unless.lastModified {
                fields[.ifModifiedSince] = date
            }
        }
        return transferRequest(source: fetch.source, fields: fields, fromOriginal: fetch.fromOriginal)
    }

    func transferRequest(source: Int, fields: HTTPFields, fromOriginal: Bool) -> TransferRequest {
        let original = sources[source]
        let url = fromOriginal ? original : state.withLock { $0.resolved[source] } ?? original
        var request = TransferRequest(
            of: self.request, from: original, headLimit: max(settings.stallTimeout, settings.connectTimeout))
        request.url = url
        request.fields = fields
        return request
    }
}
