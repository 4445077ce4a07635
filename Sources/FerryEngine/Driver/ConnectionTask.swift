import FerryCore
import HTTPTypes
import NIOCore
import Synchronization
import SystemPackage

/// The lifetime of one connection: an order of the ``TransferMachine``, the request, the response head, the pieces of the body and
/// its end, and then the next order.
///
/// ```
/// next ─► fetch ─► admit ─► request ─► head ─► place? ─► piece, write, piece, write… ─► ended ─► next
///     └─► prove ─► admit ─► samples ─► sampled
/// ```
/// It owns only the permit of its host and the digest of the body that it reads. ``Transfer`` owns the state that all connections
/// of a run share.
struct ConnectionTask {
    private let id: ConnectionID
    private let driver: DownloadDriver
    private var permit: ConnectionPermit

    private var transfer: Transfer { driver.transfer }
    private var environment: EngineEnvironment { driver.environment }

    init(_ id: ConnectionID, of driver: DownloadDriver) {
        self.id = id
        self.driver = driver
        permit = ConnectionPermit(driver.environment.hosts)
    }

    /// Runs the connection, from its first request to its last.
    mutating func run() async {
        var continues = true
        while continues && !Task.isCancelled {
            // Other downloads wait for the host, so a download with several connections closes one.
            if permit.isWanted, transfer.givesWay(id) { break }
            switch transfer.next(for: id) {
            case .leave: continues = false
            case .restart(let reason): continues = await driver.restart(reason)
            case .prove(let source):
                switch await admit(to: driver.host(of: source)) {
                case .atOnce: await driver.prove(source: source, on: id)
                case .afterWaiting: continue
                case .not: continues = false
                }
            case .fetch(let fetch):
                switch await admit(to: driver.host(of: fetch.source)) {
                case .atOnce: continues = await perform(fetch)
                // The machine's next order may have changed during the wait.
                case .afterWaiting: continue
                case .not: continues = false
                }
            }
        }
        permit.leave()
        transfer.left(id)
        driver.tasks.ended(id)
        driver.updates.notify()
    }

    // MARK: Admission

    private enum Admission {
        case atOnce
        case afterWaiting
        case not
    }

    /// Takes a permit for `host`. A download's only connection waits for one; further connections are refused.
    private mutating func admit(to host: Origin) async -> Admission {
        if permit.tryTake(host) { return .atOnce }
        if transfer.givesWay(id) { return .not }
        transfer.waitsForPermit(id)
        driver.report(.event(.note(Reason(.hostIsFull, host.host, "\(environment.hosts.limit)"))))
        return await permit.take(host) ? .afterWaiting : .not
    }

    // MARK: Requests

    /// Performs one request. Returns whether the connection may perform another.
    private mutating func perform(_ fetch: TransferMachine.Fetch) async -> Bool {
        var response: TransferResponse
        let verdict: ResponseVerdict
        let asked = environment.clock.now()
        do throws(TransferFailure) {
            var request = driver.transferRequest(for: fetch, on: id)
            request.judgesHost = !transfer.hasOthers(than: id)
            if let first = try driver.context.first?.take(for: fetch) {
                response = first
            } else {
                response = try await environment.transport.fetch(request)
            }
            environment.metrics.answered(response.head.status, after: environment.clock.now() - asked)
            verdict = try await driver.judge(&response, asked: fetch.ask, source: fetch.source) {
                transfer.awaitsFirstBytes(on: id)
            }
        } catch {
            failed(error)
            return false
        }
        // allow(origin): counts connections per host; carries no secret.
        if permit.host != response.url.origin, !permit.tryTake(response.url.origin) {
            // A redirect led to a host without room.
            if transfer.givesWay(id) { return false }
            if transfer.isFirstVisit(response.url, of: fetch.source) {
                ended(.stopped)
                return true
            }
            permit.join(response.url.origin)
        }
        let (action, beginning) = transfer.headReceived(verdict, response, of: fetch.source, on: id)
        if let beginning { driver.followDescription(in: response, of: beginning) }
        do throws(DownloadError) { return try await follow(action, verdict, response) } catch {
            ended(.stopped)
            driver.fail(error)
            return false
        }
    }

    /// Executes the machine's decision on a response. Returns whether the connection may perform another request.
    private func follow(
        _ action: TransferMachine.HeadAction, _ verdict: ResponseVerdict, _ response: TransferResponse
    ) async throws(DownloadError) -> Bool {
        let url = response.url
        switch action {
        case .drop:
            ended(.stopped)
            return true
        case .leave:
            ended(.stopped)
            return false
        case .unchanged:
            driver.finishUnchanged()
            return false
        case .begin(let representation) where driver.isSmall(representation):
            let receiving = environment.book.receive(from: url)
            defer { receiving.end() }
            guard
                try await driver.files.stay({ disk async throws(DownloadError) in
                    try await driver.replace(nil, representation, url: url, disk)
                })
            else { return false }
            return try await read(response.body, of: url.host, verdict.messageDigest, nil)
        case .begin, .restartWith, .read:
            let receiving = environment.book.receive(from: url)
            defer { receiving.end() }
            return try await driver.files.stay { disk async throws(DownloadError) in
                switch action {
                case .begin(let representation):
                    guard try await driver.replace(nil, representation, url: url, disk) else { return false }
                case .restartWith(let reason, let representation):
                    guard try await driver.replace(reason, representation, url: url, disk) else { return false }
                default: break
                }
                return try await read(response.body, of: url.host, verdict.messageDigest, disk)
            }
        }
    }

    // MARK: Bodies

    /// Writes the body, piece by piece, and compares it with its `Content-Digest` if the server sent a usable one. Returns whether
    /// the connection may perform another request. The body of a small file is received without a file thread.
    private func read(
        _ body: TransferBody, of host: String, _ digest: Checksum?, _ disk: Disk?
    ) async throws(DownloadError) -> Bool {
        var check: MessageCheck?
        if let digest, !driver.request.ignoresEarlierChecksum, transfer.checks(id) { check = MessageCheck(digest) }
        while true {
            let piece: ByteBuffer?
            do throws(TransferFailure) {
                // allow(body): the bytes of a file, whose stalls are watched.
                piece = try await body.next()
            } catch {
                switch error.kind {
                case .cancelled: ended(.stopped)
                case .malformed where transfer.openConnections == 1:
                    // A retry would return the same response.
                    throw DownloadError(error)
                case .broken where error.isCutOff: ended(.cutOff(.phrase(error.phrase)))
                default: ended(.broken(.phrase(error.phrase)))
                }
                return true
            }
            guard let piece else {
                if let check, let actual = check.mismatch() {
                    try await driver.takeBack(check, actual: actual, on: id)
                    ended(.spoiled(expected: "\(check.expected)", actual: "\(actual)"))
                } else {
                    ended(.complete)
                }
                return true
            }
            check?.received(piece)
            switch await take(piece, of: host, &check, disk) {
            case .wanted: break
            case .done:
                ended(.stopped)
                return !Task.isCancelled
            case .failed:
                ended(.stopped)
                return false
            }
            if Task.isCancelled {
                ended(.stopped)
                return false
            }
        }
    }

    private enum Taking { case wanted, done, failed }

    /// Writes one piece and returns whether to continue reading the body.
    ///
    /// The transfer's lock is acquired twice for a piece with one destination: for its offset, and after it is written.
    private func take(
        _ piece: ByteBuffer, of host: String, _ check: inout MessageCheck?, _ disk: Disk?
    ) async -> Taking {
        let (own, shared) = (driver.throttle, driver.context.throttle)
        let count = piece.readableBytes
        let isLimited =
            own.isLimited || environment.throttle.isLimited || shared?.isLimited == true || environment.book.limitsBytes
        var offset = 0
        var step = transfer.arrived(count, on: id, isLimited: isLimited)
        while let placement = step.placement {
            switch placement {
            case .stop: return .done
            case .skip(let skipped):
                offset += Int(skipped)
                step = transfer.skipped(left: count - offset, on: id, isLimited: isLimited)
            case .write(let range):
                let part = offset..<offset + Int(range.upperBound - range.lowerBound)
                do throws(FileError) { try await write(piece, part, at: range.lowerBound, to: step.place, disk) } catch
                {
                    transfer.writeFailed(on: id)
                    driver.faulted(error)
                    return .failed
                }
                check?.wrote(range)
                offset = part.upperBound
                step = transfer.wrote(left: count - offset, on: id, isLimited: isLimited)
                if step.isAwaited { driver.wakeReaders() }
                if step.wantsTick { driver.updates.notify() }
            }
        }
        // Closing the connection is cheaper than reading to the end.
        if let mustCut = step.mustCut { return mustCut ? .done : .wanted }
        if step.mustLook, let disk {
            do throws(DownloadError) { try driver.checkRoom(disk) } catch {
                driver.fail(error)
                return .failed
            }
        }
        if step.mustWait { await waitForCheckpoint() }
        let since = environment.clock.now()
        await own.passed(ByteCount(count))
        await shared?.passed(ByteCount(count))
        await environment.book.passed(ByteCount(count), from: host)
        await environment.throttle.passed(ByteCount(count))
        return transfer.asks(id, limited: isLimited ? since : nil) ? .wanted : .done
    }

    private func write(
        _ piece: ByteBuffer, _ part: Range<Int>, at offset: ByteCount, to place: Place?, _ disk: Disk?
    ) async throws(FileError) {
        guard let sink = place?.sink else { throw FileError(.write, "a file that has no place yet", kind: .closed) }
        if try sink.write(piece, part, at: offset, disk) { return }
        // The small file has moved to disk meanwhile.
        try await driver.files.run { disk throws(FileError) in _ = try sink.write(piece, part, at: offset, disk) }
    }

    /// Applies back-pressure while too many bytes are unsynced.
    private func waitForCheckpoint() async {
        while !Task.isCancelled {
            let seen = driver.checkpointDone.count
            if !transfer.mustWaitForCheckpoint { return }
            driver.updates.notify()
            await driver.checkpointDone.wait(after: seen)
        }
    }

    // MARK: Ends

    private func ended(_ end: TransferMachine.End) {
        transfer.ended(id, end)
        driver.updates.notify()
    }

    /// Handles a request that failed before its response head.
    private func failed(_ failure: TransferFailure) {
        if failure.kind == .cancelled { return ended(.stopped) }
        if case .held(let time) = failure.kind {
            transfer.hostHolds(id, until: time, .phrase(failure.phrase))
            return driver.updates.notify()
        }
        environment.metrics.requestFailed()
        if transfer.failed(failure, on: id) { driver.fail(DownloadError(failure)) }
        driver.updates.notify()
    }
}

extension DownloadDriver {
    /// Starts a connection.
    func open(_ id: ConnectionID) {
        if transfer.backOffEnded() { report(.state(.downloading)) }
        tasks.add(id) {
            // owner: tasks, awaited in drain.
            Task(executorPreference: loop) {
                var connection = ConnectionTask(id, of: self)
                await connection.run()
            }
        }
    }
}
