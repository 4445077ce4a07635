package import FerryCore
import HTTPTypes
import SystemPackage

/// Describes a download without performing it, by one plain request and one for a single byte.
package struct DownloadPlanner: Sendable {
    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let headLimit: Duration

    package init(request: DownloadRequest, environment: EngineEnvironment, headLimit: Duration) {
        self.request = request
        self.environment = environment
        self.headLimit = headLimit
    }

    package func plan() async throws(DownloadError) -> DownloadPlan {
        _ = try request.destination.resolved()
        guard let source = request.sources.first else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        let (verdict, url) = try await ask(source, .whole)
        let representation: Representation
        switch verdict {
        case .whole(let found):
            if found.isPromisedFile, !request.trust.acceptsHTML {
                throw .deadLink(Reason(.pageInstead), status: 200, holdsBytes: false)
            }
            representation = found
        case .deadLink(let status):
            throw .deadLink(
                .phrase(ErrorPhrase(.answered, "\(source)", "\(status)")), status: status, holdsBytes: false)
        case .busy(let status, let wish):
            throw DownloadError(
                .refused, ErrorPhrase(.answered, "\(source)", "\(status)"), recovery: .transient(retryAfter: wish))
        case .refused(let reason), .unusable(let reason): throw DownloadError(.refused, reason)
        case .part, .notModified, .unsatisfied:
            throw DownloadError(.refused, ErrorPhrase(.unusableAnswer, "\(source)"))
        }
        var hasRanges = false
        if let total = representation.identity.totalBytes, total > 1, !representation.refusesRanges {
            if case .part = try await ask(source, .range(total - 1..<total)).0 { hasRanges = true }
        }
        let plan = describe(representation, source: source, url: url, hasRanges: hasRanges)
        return await environment.files.run { disk in look(for: source, plan, disk) }
    }

    private func ask(_ source: DownloadURL, _ ask: RangeAsk) async throws(DownloadError) -> (
        ResponseVerdict, DownloadURL
    ) {
        var outgoing = TransferRequest(of: request, from: source, headLimit: headLimit)
        if let field = ask.field { outgoing.fields[.range] = field }
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(outgoing)
            let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
            let judged = PagePolicy(givenName: request.givenName).judge(
                verdict, beginsAPage: false, url: source, finalURL: response.url)
            return (judged, response.url)
        } catch { throw DownloadError(error) }
    }

    private func describe(
        _ representation: Representation, source: DownloadURL, url: DownloadURL, hasRanges: Bool
    ) -> DownloadPlan {
        let identity = representation.identity
        var plan = DownloadPlan(
            name: SafeName.make(representation.suggestedName, url: source, finalURL: url), url: url.redacted,
            totalBytes: identity.totalBytes, acceptsRanges: hasRanges,
            validator: identity.etag ?? identity.lastModified,
            digests: representation.digests, contentType: identity.contentType)
        plan.validatorStrength = identity.strongValidator != nil ? .strong : identity.hasValidator ? .weak : .none
        let hasDigest = request.checksum != nil || request.checksumList != nil || !representation.digests.isEmpty
        if !hasRanges {
            plan.reason = "the server sends no ranges, so it would begin again"
        } else if plan.validatorStrength == .strong {
            (plan.resumability, plan.reason) = (.proven, "a strong validator tells whether the file is the same")
        } else if hasDigest {
            (plan.resumability, plan.reason) = (.proven, "the digest of the whole decides at the end")
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
        plan.maxConnections = allowsParts ? request.maxConnections : 1
        return plan
    }

    /// Adds the local facts to the plan: free space, and bytes of an earlier run.
    private func look(for source: DownloadURL, _ plan: DownloadPlan, _ disk: Disk) -> DownloadPlan {
        var plan = plan
        var directory: FilePath
        var journal: FilePath?
        let destination = (try? request.destination.resolved()) ?? request.destination
        switch destination {
        case .stream: return plan
        case .directory(let path, _):
            directory = FilePath(path).lexicallyNormalized()
            journal = (try? environment.journals(in: directory, disk))?.paths(forURL: source.text).first
        case .file(let path), .part(let path):
            directory = FilePath(path).lexicallyNormalized().removingLastComponent()
            journal = DownloadPaths(of: FilePath(path).lexicallyNormalized())?.journal
            if case .file = destination { plan.name = FilePath(path).lastComponent?.string ?? plan.name }
        }
        if let journal {
            let found = try? PartFiles.find(at: journal.string, fileSystem: disk.fileSystem)
            plan.heldBytes = found?.claimedBytes
        }
        while (try? disk.fileSystem.statusIfPresent(directory)) == nil, directory.removeLastComponent() {}
        plan.freeBytes = try? disk.fileSystem.space(at: directory).freeBytes
        return plan
    }
}
