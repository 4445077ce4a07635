package import FerryCore
import HTTPTypes
import NIOCore
import SystemPackage

/// Compares samples of the partial content with a source.
extension DownloadDriver {
    private enum Comparison {
        case outcome(SamplePlan.Outcome, FileIdentity?)
        /// `status`: the response status of a dead link.
        case refused(Reason, status: Int?)
        case failure(ErrorPhrase, DownloadError.Code)
        /// The host accepts no request before this time.
        case held(ErrorPhrase, until: Duration)
    }

    /// Compares samples to prove that a source serves the same file as the partial content.
    func prove(source: Int, on id: ConnectionID) async {
        let (held, rules) = transfer.sampleBasis(of: source)
        switch await compare(held, rules, source: source) {
        case .outcome(let outcome, let offered): transfer.sampled(outcome, source: source, offered: offered)
        case .refused(let reason, let status): transfer.samplingRefused(reason, status: status, source: source)
        // The task was cancelled; the server is not to blame.
        case .failure where Task.isCancelled: break
        case .held(let reason, let time): transfer.hostHolds(id, until: time, .phrase(reason))
        case .failure(let reason, let code):
            transfer.samplingFailed(.phrase(reason), code: code, source: source, on: id)
        }
        if case .examined(let file)? = transfer.place { await decide(on: file.existing) }
        updates.notify()
    }

    /// Adopts a partial file after its samples have matched, and stops using a complete one whose samples differ.
    private func decide(on candidate: ExistingFile) async {
        let facts = transfer.facts
        if !candidate.isHalf {
            if !facts.isExamined { leaveExisting(candidate) }
            return
        }
        guard facts.weakestJoin != nil else { return }
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
                let (assessment, body) = try await sample(block, held, rules, source: source)
                switch assessment {
                case .compare(let representation):
                    guard let common = SamplePlan.common(offered ?? representation.identity, representation.identity)
                    else { return .outcome(.inconclusive(Reason(.tooLittle)), nil) }
                    offered = common
                    guard let sink = transfer.place?.sink,
                        let mine = await files.run({ sink.read(block, $0) })
                    else { return .outcome(.inconclusive(Reason(.tooLittle)), nil) }
                    let theirs = try await collect(body, most: mine.count).bytes
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

    /// Requests one sample: from the target of the source's redirects, and if the file does not exist there, through the original
    /// URL.
    private func sample(
        _ block: Range<ByteCount>, _ held: PartialContent, _ rules: ResumeRules, source: Int
    ) async throws(TransferFailure) -> (SampleAssessment, ShortBody) {
        let ask = RangeAsk.range(block)
        while true {
            let isOriginal = transfer.target(of: source) == nil
            let request = transferRequest(source: source, fields: [.range: ask.field ?? ""], fromOriginal: isOriginal)
            let response = try await environment.transport.fetch(request)
            let url = response.url
            let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
            transfer.answered(source, response)
            // The stall watch does not cover a connection that compares samples.
            let body = ShortBody(response.body)
            var beginsAPage = false
            if mustSniff(verdict, source: source) {
                let start = try await collect(body, most: PageSniffer.mostBytes)
                beginsAPage = PageSniffer.judge(start.bytes, isWhole: start.isWhole) == .page
            }
            let judged = judge(verdict, beginsAPage: beginsAPage, source: source, finalURL: url)
            let assessment = ResumePolicy.assessSample(judged, of: block, held: held, rules: rules)
            if !isOriginal, assessment.isDeadEnd {
                transfer.forgetTarget(of: source)
                continue
            }
            return (assessment, body)
        }
    }

    /// Returns the bytes of a short body, at most `most`, and whether the body is complete.
    func collect(_ body: ShortBody, most: Int) async throws(TransferFailure) -> (bytes: [UInt8], isWhole: Bool) {
        let content = try await body.collect(
            ShortBody.Limits(bytes: most, idle: settings.stallTimeout), clock: environment.clock)
        transfer.receivedElsewhere(ByteCount(content.bytes.readableBytes))
        return (Array(buffer: content.bytes), content.isWhole)
    }
}

/// Detects web pages that are served in place of files.
extension DownloadDriver {
    /// Returns the verdict on a response. If only the first bytes of the body show whether it is a web page, calls `willSniff` and
    /// waits for them; the caller limits that time.
    func judge(
        _ response: inout TransferResponse, asked ask: RangeAsk, source: Int, willSniff: () -> Void
    ) async throws(TransferFailure) -> ResponseVerdict {
        let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
        var beginsAPage = false
        if mustSniff(verdict, source: source) {
            willSniff()
            beginsAPage = try await response.body.beginsAPage()
        }
        return judge(verdict, beginsAPage: beginsAPage, source: source, finalURL: response.url)
    }

    private func mustSniff(_ verdict: ResponseVerdict, source: Int) -> Bool {
        !transfer.sources[source].isObject && !request.trust.acceptsHTML && PagePolicy.mustLook(at: verdict)
    }

    private func judge(
        _ verdict: ResponseVerdict, beginsAPage: Bool, source: Int, finalURL: DownloadURL
    ) -> ResponseVerdict {
        let url = transfer.sources[source]
        // An object is always the content of its key; no sign-in page replaces it.
        if url.isObject { return verdict }
        return PagePolicy(givenName: request.givenName).judge(
            verdict, beginsAPage: beginsAPage, url: url, finalURL: finalURL)
    }
}

extension DownloadRequest {
    /// The displayed name of a file: the name of the object that it becomes, if the whole key is known.
    func shownName(_ name: String) -> String {
        guard let object = uploadTo, object.path.utf8.last != UInt8(ascii: "/") else { return name }
        return Paths.name(of: String(decoding: object.objectKey, as: UTF8.self))
    }

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

/// The requests of connections.
extension DownloadDriver {
    /// Returns the host that the source's body is expected to come from.
    func host(of source: Int) -> Origin {
        (transfer.target(of: source) ?? transfer.sources[source]).origin
    }

    func transferRequest(for fetch: TransferMachine.Fetch, on id: ConnectionID) -> TransferRequest {
        var fields = fetch.unless.map { HTTPFields(unless: $0) } ?? HTTPFields()
        if let range = fetch.ask.field {
            fields[.range] = range
            if let validator = fetch.ifRange { fields[.ifRange] = validator }
        }
        return transferRequest(source: fetch.source, fields: fields, fromOriginal: fetch.fromOriginal, on: id)
    }

    func transferRequest(
        source: Int, fields: HTTPFields, fromOriginal: Bool, on id: ConnectionID? = nil
    ) -> TransferRequest {
        let original = transfer.sources[source]
        let url = fromOriginal ? original : transfer.target(of: source) ?? original
        var request = TransferRequest(
            of: self.request, from: original, headLimit: settings.stallTimeout)
        request.url = url
        request.fields = fields
        request.admission = environment.book
        request.trace = { [weak self] in self?.report(.event(.note($0))) }
        request.observe = { [weak transfer] facts in transfer?.observed(facts, on: id) }
        return request
    }
}

extension TransferRequest {
    /// Creates a request for `source` under the rules of a download request. All network requests on behalf of a user are created
    /// here.
    package init(of request: DownloadRequest, from source: DownloadURL, headLimit: Duration) {
        self.init(
            url: source, secrets: SecretScope(of: request, for: source), headLimit: headLimit,
            allowsDowngrade: request.trust.allowsDowngrade, maxRedirects: request.maxRedirects)
        connection = request.connection
        allowsPrivate = request.network.allowsPrivate ?? true
    }
}
