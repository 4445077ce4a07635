package import FerryCore
import HTTPTypes
import NIOCore
import Synchronization
import SystemPackage

/// Compares samples of the partial content with a source.
extension DownloadDriver {
    private enum Comparison {
        case outcome(SamplePlan.Outcome, FileIdentity?)
        /// `status`: of a dead link.
        case refused(Reason, status: Int?)
        case failure(ErrorPhrase, DownloadError.Code)
        /// The host takes no request before this time.
        case held(ErrorPhrase, until: Duration)
    }

    /// Compares samples to prove that a source serves the same file as the partial content.
    func prove(source: Int, on id: ConnectionID) async {
        let (held, rules) = state.withLock { $0.machine.sampleBasis(of: source) }
        let comparison = await compare(held, rules, source: source)
        let candidate = state.withLock { state in
            switch comparison {
            case .outcome(let outcome, let offered): state.machine.sampled(outcome, source: source, offered: offered)
            case .refused(let reason, let status):
                state.machine.samplingRefused(reason, status: status, source: source)
            // The task was cancelled; the server is not to blame.
            case .failure where Task.isCancelled: break
            case .held(let reason, let time):
                state.machine.held(id, until: time, .phrase(reason), at: environment.clock.now())
            case .failure(let reason, let code):
                state.machine.samplingFailed(
                    .phrase(reason), code: code, source: source, on: id, at: environment.clock.now(),
                    random: environment.random())
            }
            return state.storage.examined
        }
        if let candidate { await decide(on: candidate) }
        updates.notify()
    }

    /// Uses a half file after its samples have matched, and leaves a whole one with other samples.
    private func decide(on candidate: ExistingFile) async {
        let file = state.withLock { $0.machine.file }
        let (isExamining, isProven) = (file.isExamined, file.weakestJoin != nil)
        if !candidate.isHalf {
            if !isExamining { leaveExisting(candidate) }
            return
        }
        guard isProven else { return }
        await lock.acquire()
        defer { lock.release() }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in try takeHalf(candidate, disk) }
        } catch { fail(error) }
    }

    private func compare(_ held: PartialContent, _ rules: ResumeRules, source: Int) async -> Comparison {
        let blocks = SamplePlan.blocks(of: held.ranges) { limit in
            min(limit - 1, ByteCount(environment.random() * Double(limit)))
        }
        var compared: [(isEqual: Bool, isConstant: Bool)] = []
        var offered: FileIdentity?
        for block in blocks {
            do throws(TransferFailure) {
                let (assessment, response) = try await sample(block, held, rules, source: source)
                switch assessment {
                case .compare(let representation):
                    guard let common = SamplePlan.common(offered ?? representation.identity, representation.identity)
                    else { return .outcome(.inconclusive(Reason(.tooLittle)), nil) }
                    offered = common
                    guard let sink = state.withLock({ $0.storage.place })?.sink,
                        let mine = await files.run({ sink.read(block, $0) })
                    else { return .outcome(.inconclusive(Reason(.tooLittle)), nil) }
                    let theirs = try await collectSample(response.body, most: mine.count)
                    guard theirs.count == mine.count else { return .outcome(.inconclusive(Reason(.tooLittle)), nil) }
                    compared.append((mine == theirs, mine.allSatisfy { $0 == mine[0] }))
                    if mine != theirs { return .outcome(.different, representation.identity) }
                case .different(let identity): return .outcome(.different, identity)
                case .inconclusive(let reason): return .outcome(.inconclusive(reason), nil)
                case .deadLink(let reason, let status): return .refused(reason, status: status)
                case .refused(let reason): return .refused(reason, status: nil)
                case .busy(let status): return .failure(ErrorPhrase(.serverAnswered, "\(status)"), .refused)
                }
            } catch {
                if case .held(let time) = error.kind { return .held(error.phrase, until: time) }
                return .failure(error.phrase, .network)
            }
        }
        let comparedAll = held.ranges.byteCount < SamplePlan.allBelow
        return .outcome(SamplePlan.judge(compared, comparedAll: comparedAll), offered)
    }

    /// Requests one sample: from the target of the source's redirects, and if that has no file, through its original URL.
    private func sample(
        _ block: Range<ByteCount>, _ held: PartialContent, _ rules: ResumeRules, source: Int
    ) async throws(TransferFailure) -> (SampleAssessment, TransferResponse) {
        let ask = RangeAsk.range(block)
        while true {
            let isOriginal = state.withLock { $0.links.resolved[source] == nil }
            let request = transferRequest(source: source, fields: [.range: ask.field ?? ""], fromOriginal: isOriginal)
            var response = try await environment.transport.fetch(request)
            let verdict = try await judge(&response, asked: ask, source: source)
            let assessment = ResumePolicy.assessSample(verdict, of: block, held: held, rules: rules)
            if !isOriginal, assessment.isDeadEnd {
                state.withLock { $0.links.resolved[source] = nil }
                continue
            }
            state.withLock { $0.links.answered(source, response) }
            return (assessment, response)
        }
    }

    /// Returns the bytes of a short body, at most `most`.
    func collect(_ body: sending TransferBody, most: Int) async throws(TransferFailure) -> [UInt8] {
        let content = try await ShortBody(body).collect(
            ShortBody.Limits(bytes: most, idle: settings.stallTimeout), clock: environment.clock)
        receivedMore(ByteCount(content.bytes.readableBytes))
        return Array(buffer: content.bytes)
    }

    /// Returns the bytes of a sample, at most `most`.
    private func collectSample(_ body: TransferBody, most: Int) async throws(TransferFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(most)
        // allow(body): a sample ends with the run of its download, whose stalls are watched.
        while let piece = try await body.next() {
            receivedMore(ByteCount(piece.readableBytes))
            bytes.append(contentsOf: piece.readableBytesView.prefix(most - bytes.count))
            if bytes.count >= most, piece.readableBytes > most { break }
        }
        return bytes
    }

    private func receivedMore(_ count: ByteCount) { state.withLock { $0.machine.receivedElsewhere(count) } }
}

/// Detects web pages that are served in place of files.
extension DownloadDriver {
    /// Returns the verdict on a response. Waits for its first bytes, after `willSniff`, if only they tell whether it is a
    /// web page.
    func judge(
        _ response: inout TransferResponse, asked ask: RangeAsk, source: Int, willSniff: () -> Void = {}
    ) async throws(TransferFailure) -> ResponseVerdict {
        let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
        var beginsAPage = false
        // An object is what its key names: no sign-in page is in its place.
        if sources[source].isObject { return verdict }
        if !request.trust.acceptsHTML, PagePolicy.mustLook(at: verdict) {
            willSniff()
            beginsAPage = try await response.body.beginsAPage()
        }
        return PagePolicy(givenName: request.givenName).judge(
            verdict, beginsAPage: beginsAPage, url: sources[source], finalURL: response.url)
    }
}

extension DownloadRequest {
    /// The file name that the user chose; `nil` if the server names the file.
    var givenName: String? {
        switch destination {
        case .file(let path): FilePath(path).lastComponent?.string
        case .part(let path): DownloadPaths(of: FilePath(path))?.name
        case .directory(_, .exact(let name)): name
        case .directory, .stream: nil
        }
    }
}

/// Admission of connections to hosts, shared by all downloads.
extension DownloadDriver {
    enum Admission {
        case atOnce
        case afterWaiting
        case not
    }

    /// Returns the host that the source's body is expected to come from.
    func host(of source: Int) -> Origin {
        state.withLock { $0.links.resolved[source]?.origin ?? $0.links.urls[source].origin }
    }

    /// Takes a permit for `host`. A download's only connection waits for one; further connections are refused.
    func admit(_ id: ConnectionID, to host: Origin, _ permit: inout ConnectionPermit) async -> Admission {
        if permit.tryTake(host) { return .atOnce }
        if givesWay(id) { return .not }
        state.withLock { $0.machine.waitsForPermit(id) }
        report(.event(.note(Reason(.hostIsFull, host.host, "\(environment.hosts.limit)"))))
        return await permit.take(host) ? .afterWaiting : .not
    }

    /// Ends this connection if the download has others. Returns whether it did.
    func givesWay(_ id: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.machine.hasOthers(than: id) else { return false }
            state.machine.noRoom(for: id, at: environment.clock.now())
            return true
        }
    }

    /// Gives up one of several connections in the middle of its response while other downloads wait for its host: the
    /// segment of a slow server may take minutes.
    func makeRoom(at now: Duration) {
        let crowded = state.withLock { $0.machine.sourcesInUse }.filter { environment.hosts.isCrowded(host(of: $0)) }
        if !crowded.isEmpty { state.withLock { $0.machine.makeRoom(at: crowded, now: now) } }
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
}

/// The requests of connections.
extension DownloadDriver {
    func transferRequest(for fetch: TransferMachine.Fetch, on id: ConnectionID) -> TransferRequest {
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
        return transferRequest(source: fetch.source, fields: fields, fromOriginal: fetch.fromOriginal, on: id)
    }

    func transferRequest(
        source: Int, fields: HTTPFields, fromOriginal: Bool, on id: ConnectionID? = nil
    ) -> TransferRequest {
        let original = sources[source]
        let url = fromOriginal ? original : state.withLock { $0.links.resolved[source] } ?? original
        var request = TransferRequest(
            of: self.request, from: original, headLimit: settings.stallTimeout)
        request.url = url
        request.fields = fields
        request.admission = environment.book
        request.trace = { [weak self] in self?.report(.event(.note($0))) }
        request.observe = { [weak self] facts in self?.state.withLock { $0.machine.observed(facts, on: id) } }
        return request
    }
}

extension TransferRequest {
    /// Creates a request for `source` under the rules of a download request. Every network request on behalf of a
    /// user is made here.
    package init(of request: DownloadRequest, from source: DownloadURL, headLimit: Duration) {
        self.init(
            url: source, secrets: SecretScope(of: request, for: source), headLimit: headLimit,
            allowsDowngrade: request.trust.allowsDowngrade, maxRedirects: request.maxRedirects)
        connection = request.connection
        allowsPrivate = request.network.allowsPrivate ?? true
    }
}
