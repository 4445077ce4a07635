package import FerryCore
import HTTPTypes
import SystemPackage

/// Describes a download without performing it, by one plain request and, to test ranges, a request for a single byte.
package struct DownloadPlanner: Sendable {
    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let headLimit: Duration
    private let testsRanges: Bool

    /// - Parameter testsRanges: Whether to send a second request; otherwise the plan reports no support for ranges.
    package init(
        request: DownloadRequest, environment: EngineEnvironment, headLimit: Duration, testsRanges: Bool = true
    ) {
        self.request = request
        self.environment = environment
        self.headLimit = headLimit
        self.testsRanges = testsRanges
    }

    /// Returns the plan. Throws, as the download would, if the destination is not writable, the server refuses the request, or
    /// the file is too large.
    package func plan() async throws(DownloadError) -> DownloadPlan {
        let destination = request.destination
        try await environment.files.run { disk throws(DownloadError) in
            try PartFiles.checkWritable(destination, fileSystem: disk.fileSystem)
        }
        guard let source = try await source() else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        let (verdict, redirects, refusal) = try await ask(source, .whole)
        let representation: Representation
        switch verdict {
        case .whole(let found):
            if found.isPromisedFile, !request.trust.acceptsHTML {
                throw .deadLink(Reason(.pageInstead), status: 200, holdsBytes: await holdsBytes(source))
            }
            representation = found
        case .deadLink(let reason, let status):
            let holdsBytes = await self.holdsBytes(source)
            let error = DownloadError.deadLink(reason, status: status, holdsBytes: holdsBytes)
            throw refusal?.explained(error, holdsBytes: holdsBytes) ?? error
        case .busy(let status, let wish):
            throw DownloadError(
                .refused, ErrorPhrase(.answered, "\(source)", "\(status)"), recovery: .transient(retryAfter: wish))
        case .refused(let reason), .unusable(let reason): throw DownloadError(.refused, reason)
        case .part, .notModified, .unsatisfied:
            throw DownloadError(.refused, ErrorPhrase(.unusableAnswer, "\(source)"))
        }
        if let total = representation.identity.totalBytes, let most = request.maxBytes, total > most {
            throw DownloadError(.tooLarge, ErrorPhrase(.fileTooLarge, "\(total)", "\(most)"))
        }
        var hasRanges = false
        if testsRanges, let total = representation.identity.totalBytes, total > 1, !representation.refusesRanges {
            if case .part = try await ask(source, .range(total - 1..<total)).0 { hasRanges = true }
        }
        let plan = describe(representation, source: source, redirects, hasRanges: hasRanges)
        return await environment.files.run { disk in look(for: source, plan, representation.identity, disk) }
    }

    /// The first URL of the request, or else the first URL in the journal of its part file.
    private func source() async throws(DownloadError) -> DownloadURL? {
        if let first = request.sources.first { return first }
        guard case .part(let path) = request.destination else { return nil }
        let text = try await environment.files.run { disk throws(DownloadError) in
            try PartFiles.find(at: path, fileSystem: disk.fileSystem).record.urls.first
        }
        guard let text else { return nil }
        return try DownloadURL(text)
    }

    private func ask(_ source: DownloadURL, _ ask: RangeAsk) async throws(DownloadError) -> (
        ResponseVerdict, redirects: [DownloadURL], refusal: Refusal?
    ) {
        var outgoing = TransferRequest(of: request, from: source, headLimit: headLimit)
        if let field = ask.field { outgoing.fields[.range] = field }
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(outgoing)
            let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
            let judged = PagePolicy(givenName: request.givenName).judge(
                verdict, beginsAPage: false, url: source, finalURL: response.url)
            return (judged, response.redirects, Refusal(response, of: source))
        } catch { throw DownloadError(error) }
    }

    private func describe(
        _ representation: Representation, source: DownloadURL, _ redirects: [DownloadURL], hasRanges: Bool
    ) -> DownloadPlan {
        let identity = representation.identity
        let url = redirects.last ?? source
        var plan = DownloadPlan(
            name: SafeName.make(representation.suggestedName, url: source, finalURL: url),
            redactedURL: url.redacted, redactedRedirects: redirects.map(\.redacted), totalBytes: identity.totalBytes,
            acceptsRanges: hasRanges,
            validator: identity.etag ?? identity.lastModified,
            digests: representation.digests, contentType: identity.contentType)
        plan.validatorStrength = identity.strongValidator != nil ? .strong : identity.hasValidator ? .weak : .none
        let hasDigest = request.hasDigest || !representation.digests.isEmpty
        if !testsRanges {
            plan.reason = "ranges were not tested"
        } else if !hasRanges, plan.validatorStrength == .strong, !representation.isEncoded {
            // The driver reads the file from the start, and keeps the bytes that are already stored.
            (plan.resumability, plan.reason) = (
                .proven,
                "a strong validator tells whether the file is the same; the server sends no ranges, so it is read from the start"
            )
        } else if !hasRanges {
            plan.reason = "the server sends no ranges, so it would begin again"
        } else if plan.validatorStrength == .strong {
            (plan.resumability, plan.reason) = (.proven, "a strong validator tells whether the file is the same")
        } else if hasDigest {
            (plan.resumability, plan.reason) = (.proven, "the digest of the whole decides at the end")
        } else if case .stream = request.destination {
            plan.reason = "there is no strong validator, and what is in the output cannot be compared"
        } else if plan.validatorStrength == .weak {
            (plan.resumability, plan.reason) = (.sampled, "the validator is weak: samples would be compared")
        } else if request.trust.resumesUnproven {
            (plan.resumability, plan.reason) = (.sampled, "there is no validator: samples would be compared")
        } else {
            plan.reason = "there is no validator, so it would begin again; --resume-unproven compares samples instead"
        }
        let allowsParts =
            hasRanges
            && (plan.validatorStrength == .strong || hasDigest || request.trust.allowsUnprovenParts)
        // A connection is worth opening for one mebibyte or more.
        let useful = max(1, Int(clamping: (identity.totalBytes ?? .max) >> 20))
        plan.maxConnections = allowsParts ? min(request.maxConnections, useful) : 1
        return plan
    }

    /// Adds the local facts to the plan: the free space, an existing file, and the bytes of an earlier run, which may belong to a
    /// file that the server has replaced since.
    private func look(
        for source: DownloadURL, _ plan: DownloadPlan, _ identity: FileIdentity, _ disk: Disk
    ) -> DownloadPlan {
        var (plan, request) = (plan, request)
        if let resolved = try? request.destination.resolved() { request.destination = resolved }
        var directory: FilePath
        var name = SafeName.make(nil, url: source, finalURL: nil)
        switch request.destination {
        case .stream: return plan
        case .directory(let path, _): directory = FilePath(ofRequest: path)
        case .file(let path), .part(let path):
            let path = FilePath(ofRequest: path)
            directory = path.removingLastComponent()
            if case .file = request.destination, let last = path.lastComponent?.string {
                (plan.name, name) = (last, last)
            }
        }
        let own = OwnFiles(id: DownloadID(rawValue: ""), request: request, context: RunContext())
        let search = JournalSearch(own, environment, name: name) { _ in }
        let found = try? search.find(disk)
        switch found {
        case .named(let paths): lookAtPart(paths, nil, source, identity, &plan, own, disk)
        case .begun(let paths): lookAtPart(paths, name, source, identity, &plan, own, disk)
        case .nothing: lookForName(in: directory, &plan, disk)
        case .half, .stream, nil: break
        }
        while (try? disk.fileSystem.statusIfPresent(directory)) == nil, directory.removeLastComponent() {}
        plan.freeBytes = try? disk.fileSystem.space(at: directory).freeBytes
        return plan
    }

    /// Adds the part file of an earlier run, or the finished file that would be used instead.
    ///
    /// - Parameter wanted: The expected name of the file; `nil` if the request names the part file.
    private func lookAtPart(
        _ paths: DownloadPaths, _ wanted: String?, _ source: DownloadURL, _ identity: FileIdentity,
        _ plan: inout DownloadPlan, _ own: OwnFiles, _ disk: Disk
    ) {
        guard let record = try? PartFiles.find(at: paths.journal.string, fileSystem: disk.fileSystem).record,
            let part = try? disk.fileSystem.statusIfPresent(paths.part)
        else { return }
        let digest = ExpectedDigest(own.request, record, isSameDownload: false)
        let facts = PartClaims.Facts(device: part.device, inode: part.inode, created: nil, length: part.length)
        let claims = PartClaims(
            record, of: facts, bootID: disk.fileSystem.bootID, hasDigest: digest.requested != nil)
        let verdict = claims.verdict(digest, own.request)
        let isNumbered = wanted.map { !$0.hasSameBytes(as: paths.name) } ?? false
        let first = (isNumbered ? paths.unnumbered ?? paths : paths).final
        if (try? disk.fileSystem.exists(first)) == true { plan.existingPath = first.string }
        if let wanted, let original = own.original(of: paths, record, wanted: wanted, disk) {
            let earlier = Prepared.EarlierFile(at: original, of: source, strict: request.trust.strict, disk)
            let isCompared = digest.requested.map { $0.description != record.checksum }
            if isCompared ?? verdict.yields(to: earlier, record) {
                (plan.name, plan.mayBeComplete) = (wanted, true)
                return
            }
        }
        plan.name = record.name
        if verdict == .usable { plan.heldBytes = claims.ranges.byteCount }
        if record.names(source) { compare(record, identity, &plan) }
    }

    /// Whether an earlier run has stored bytes, which can be completed through a fresh link.
    private func holdsBytes(_ source: DownloadURL) async -> Bool {
        let unknown = DownloadPlan(
            name: SafeName.make(nil, url: source, finalURL: nil), redactedURL: source.redacted)
        return await environment.files.run { disk in
            look(for: source, unknown, FileIdentity(), disk).heldBytes.map { $0 > 0 } ?? false
        }
    }

    /// Compares the file of an earlier run with the file that the server has now.
    private func compare(_ record: JournalRecord, _ identity: FileIdentity, _ plan: inout DownloadPlan) {
        var known = record.identity
        known.totalBytes = known.totalBytes ?? record.totalBytes
        switch IdentityComparison.compare(known: known, offered: identity, strict: request.trust.strict) {
        case .different:
            (plan.resumability, plan.reason) = (.no, "the server's file has changed, so it would begin again")
        case .inconsistent:
            (plan.resumability, plan.reason) = (
                .no, "the server's file has another size under the same validator, so nothing would be fetched"
            )
        case .plausible where !plan.acceptsRanges && plan.resumability == .proven:
            (plan.resumability, plan.reason) = (.no, "the server sends no ranges, so it would begin again")
        case .plausible where plan.resumability == .proven && !request.hasDigest && plan.digests.isEmpty:
            (plan.resumability, plan.reason) = (.sampled, "the validator has changed: samples would be compared")
        case .same, .plausible, .unknown: break
        }
    }

    /// Adds the file that occupies the name, and under ``ConflictRule/rename`` the name that the download would get instead.
    private func lookForName(in directory: FilePath, _ plan: inout DownloadPlan, _ disk: Disk) {
        let wanted = plan.name
        guard let paths = DownloadPaths(directory: directory, name: wanted) else { return }
        if let status = try? disk.fileSystem.statusIfPresent(paths.final) {
            plan.existingPath = paths.final.string
            plan.mayBeComplete = status.kind == .regular && status.length == plan.totalBytes
        }
        guard request.onConflict == .rename, !plan.mayBeComplete else { return }
        let taker = NameTaker(fileSystem: disk.fileSystem)
        let free = (0...NameTaker.maxNumber).lazy.compactMap { DownloadPaths(wanted, number: $0, in: directory) }
            .first { (try? taker.isFree($0)) ?? true }
        plan.name = free?.name ?? wanted
    }
}
