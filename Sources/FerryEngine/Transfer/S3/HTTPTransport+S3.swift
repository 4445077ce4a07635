import FerryCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Requests for `s3` URLs. Each is sent to the store that the settings name, with a signature of its own.
///
/// ```
/// account: store, region, keys ─► URL, signed fields ─► hop ─► failure? ─► other region, new keys, whole object: again
/// ```
/// A redirect is never followed; only the region that it names is used. The signature therefore reaches no server but the store.
extension HTTPTransport {
    func fetchObject(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        let settings = try settings(forObjects: request)
        let object = request.url
        if object.path == "/", object.query == nil, request.method == .get {
            throw TransferFailure(.store(.invalidRequest), ErrorPhrase(.notAnObject, object.redacted))
        }
        let trace = TransferTrace(request, settings)
        let digest = request.upload?.sha256 ?? request.content.map { S3Fields.sha256($0.readableBytesView) }
        var condition = S3Condition(request.fields)
        if request.method == .get, object.path != "/", condition.isWhole {
            condition.fields[.checksumMode] = "ENABLED"
        }
        var (hasNewKeys, hasNewRegion) = (false, false)
        while true {
            let account = try await account(for: object.host, settings)
            let url = account.endpoint.url(for: object, region: account.region)
            let fields = S3Fields(
                method: request.method, url: url, userAgent: settings.userAgent, own: condition.fields,
                user: request.secrets.headers(for: object, settings.headers),
                contentDigest: digest ?? SignatureV4.emptyDigest
            ).headers(account, now: Date())
            trace?.sends(fields, to: object)
            var route = settings
            // The store that the user has named may have any address.
            if account.endpoint.base != nil { route.allowsPrivate = true }
            let answer = try await hop(request, to: url, fields: fields, route, trace)
            trace?.received(answer.head, from: object, to: nil)
            guard S3Failure.isFailure(answer.head) else {
                var response = TransferResponse(
                    head: answer.head, url: object, body: TransferBody(of: answer, from: url))
                response.wasAuthorized = account.keys != nil
                return response
            }
            let content = try await ShortBody(TransferBody(of: answer, from: url)).collect(
                ShortBody.Limits(bytes: S3Failure.mostBytes, whole: .seconds(60)), clock: clock)
            let failure = S3Failure(answer.head, body: Array(buffer: content.bytes))
            switch failure.remedy {
            case .region(let region) where !hasNewRegion && region != account.region:
                hasNewRegion = true
                s3.note(region: region, of: object.host)
                continue
            case .newKeys where !hasNewKeys && account.keys.map({ s3.refused($0) }) == true:
                hasNewKeys = true
                continue
            case .condition where condition.dropRange(): continue
            case .condition, .retry:
                return TransferResponse(head: answer.head, url: object, body: TransferBody { nil })
            case .region, .newKeys, .none:
                throw TransferFailure(
                    .store(failure.errorCode), failure.phrase(of: object, isSigned: account.keys != nil))
            }
        }
    }

    /// The settings for requests to the store. Throws if the request has a proxy or certificates of its own and may come from
    /// somebody other than the owner of the keys.
    private func settings(forObjects request: TransferRequest) throws(TransferFailure) -> TransferSettings {
        let own = settings
        let rules = request.connection
        guard own.s3.allowsOwnRoute || rules.proxy == nil && rules.certificates == nil && !rules.insecure else {
            throw TransferFailure(.store(.invalidRequest), ErrorPhrase(.objectRoute))
        }
        var settings = own.with(rules)
        settings.allowsPrivate = own.allowsPrivate && request.allowsPrivate
        return settings
    }

    private func account(
        for bucket: String, _ settings: TransferSettings
    ) async throws(TransferFailure) -> S3Account {
        var direct = TransferSettings()
        direct.connectTimeout = .seconds(1)
        let metadata = direct
        return try await s3.account(for: bucket, settings.s3, now: Date()) {
            [self] request async throws(TransferFailure) in
            let response = try await fetch(request, metadata)
            let status = response.head.status
            let content = try await ShortBody(response.body).collect(S3Access.metadataLimits, clock: clock)
            return (status, Array(buffer: content.bytes))
        }
    }
}
