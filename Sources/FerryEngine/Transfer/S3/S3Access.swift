import FerryCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The store, region and keys for a request.
struct S3Account: Sendable {
    var endpoint: S3Endpoint
    /// The region of the bucket, if it is known, or else the default.
    var region: String
    /// `nil` for anonymous requests.
    var keys: S3Credentials?
}

/// Finds the store, the regions of buckets, and the keys, which come from the environment, the profile, the container or the
/// instance.
///
/// One task at a time searches for keys, and the others wait for the result. Temporary keys are replaced some minutes before
/// they expire. The result that there are no keys is cached for a while, because each search may take until a time limit.
final class S3Access: Sendable {
    /// Returns the bytes of a file, up to the given number; `nil` if it cannot be read.
    typealias ReadFile = @Sendable (_ path: String, _ most: Int) async -> [UInt8]?
    /// Sends a request for metadata.
    typealias Fetch = @Sendable (TransferRequest) async throws(TransferFailure) -> (status: Int, body: [UInt8])

    private struct Found {
        var keys: S3Credentials?
        /// The time of the next search; `nil` for never.
        var until: Date?
    }

    private struct State {
        var settings = S3Settings()
        var profile: S3Profile?
        var found: Found?
        var regions = RecentValues<String, String>(capacity: 256)
    }

    private let state = Mutex(State())
    private let searching = AsyncLock()
    private let readFile: ReadFile

    /// The time before their expiry at which temporary keys are replaced.
    private static let margin: TimeInterval = 300
    /// How long to wait before the next search if there are no keys, or no new ones were available.
    private static let patience: TimeInterval = 300
    /// The time limit for a metadata request, because outside of an instance no server responds.
    private static let metadataLimit = Duration.seconds(1)
    /// The maximum size of a file with a token.
    private static let mostTokenBytes = 64 << 10
    /// The limits for a metadata response, for which all requests for objects wait.
    static let metadataLimits = ShortBody.Limits(bytes: 64 << 10, whole: .seconds(5), idle: .seconds(2))

    init(readFile: @escaping ReadFile) { self.readFile = readFile }

    /// Returns the store, region and keys for requests to this bucket. Throws if a setting cannot be used.
    func account(
        for bucket: String, _ settings: S3Settings, now: Date, fetch: Fetch
    ) async throws(TransferFailure) -> S3Account {
        await searching.acquire()
        defer { searching.release() }
        if let problem = settings.problem { throw Self.unusable(ErrorPhrase(.unusableS3Setting, problem)) }
        let known = state.withLock { state in
            // The cached regions belong to the previous store.
            if state.settings != settings { state = State(settings: settings) }
            return (profile: state.profile, found: state.found)
        }
        let profile: S3Profile
        if let read = known.profile { profile = read } else { profile = await self.profile(settings) }
        if !profile.exists, settings.isProfileNamed {
            throw Self.unusable(ErrorPhrase(.noSuchProfile, TextError.quote(settings.profile)))
        }
        state.withLock { $0.profile = profile }
        var endpoint = profile.endpoint
        if let base = settings.endpoint { endpoint.base = base }
        let region = state.withLock { $0.regions[bucket] } ?? settings.region ?? profile.region
        let keys: S3Credentials?
        if let found = known.found, found.until.map({ now < $0 }) ?? true {
            keys = found.keys
        } else {
            let found = try await search(settings, profile, now: now, former: known.found?.keys, fetch)
            state.withLock { $0.found = found }
            keys = found.keys
        }
        return S3Account(endpoint: endpoint, region: region ?? S3Endpoint.defaultRegion, keys: keys)
    }

    /// Records the region of a bucket for later requests.
    func note(region: String, of bucket: String) { state.withLock { $0.regions[bucket] = region } }

    /// Discards keys that a store has refused as expired, so that they are searched for again. Returns whether others may be
    /// found, which is not the case for the user's own keys.
    func refused(_ keys: S3Credentials) -> Bool {
        state.withLock { state in
            guard state.settings.credentials == nil else { return false }
            // Another request may have found new keys.
            if state.found?.keys == keys { (state.found, state.profile) = (nil, nil) }
            return true
        }
    }

    // MARK: The search

    private func search(
        _ settings: S3Settings, _ profile: S3Profile, now: Date, former: S3Credentials?, _ fetch: Fetch
    ) async throws(TransferFailure) -> Found {
        if let keys = settings.credentials ?? profile.credentials { return Found(keys: keys) }
        if let problem = profile.problem {
            throw Self.unusable(ErrorPhrase(.unsupportedProfile, TextError.quote(settings.profile), problem))
        }
        var keys = await containerKeys(settings, fetch)
        if keys == nil, settings.container == nil, let base = settings.metadata {
            keys = await instanceKeys(base, fetch)
        }
        if let keys { return Found(keys: keys, until: keys.expires?.addingTimeInterval(-Self.margin)) }
        // Keys that have not expired yet are better than none.
        let remaining = former.flatMap { keys in keys.expires.map { $0 > now } ?? false ? keys : nil }
        return Found(keys: remaining, until: now.addingTimeInterval(Self.patience))
    }

    private func profile(_ settings: S3Settings) async -> S3Profile {
        func profiles(_ path: String?) async -> AWSProfiles {
            guard let path, let bytes = await readFile(path, AWSProfiles.mostBytes) else { return AWSProfiles() }
            return AWSProfiles(String(decoding: bytes, as: UTF8.self))
        }
        return S3Profile(
            settings.profile, credentials: await profiles(settings.credentialsFile),
            config: await profiles(settings.configFile), ignoresEndpoint: settings.ignoresConfiguredEndpoint)
    }

    private func containerKeys(_ settings: S3Settings, _ fetch: Fetch) async -> S3Credentials? {
        guard let url = settings.container, Self.isContainers(url) else { return nil }
        var token = settings.containerToken
        if let path = settings.containerTokenFile, let bytes = await readFile(path, Self.mostTokenBytes) {
            token = String(decoding: bytes, as: UTF8.self).trimmedText
        }
        var fields = HTTPFields()
        if let token { fields[.authorization] = token }
        return await members(url, .get, fields, fetch).flatMap { S3Credentials(metadata: $0) }
    }

    /// Whether keys may be requested from this URL: it leads to this machine or a container endpoint, or is encrypted.
    private static func isContainers(_ url: DownloadURL) -> Bool {
        url.scheme == .https || ["169.254.170.2", "169.254.170.23", "fd00:ec2::23", "localhost"].contains(url.host)
            || IPAddress(url.host).map { PrivateAddress.kind(of: $0) == .loopback } ?? false
    }

    /// Requests keys from version 2 of the instance's metadata service: first a token, then the name of the role, then its keys.
    private func instanceKeys(_ base: DownloadURL, _ fetch: Fetch) async -> S3Credentials? {
        guard let tokenURL = try? base.resolving("/latest/api/token"),
            let roles = try? base.resolving("/latest/meta-data/iam/security-credentials/"),
            let lifetime = HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds"),
            let tokenName = HTTPField.Name("X-aws-ec2-metadata-token")
        else { return nil }
        guard let token = await text(tokenURL, .put, [lifetime: "21600"], fetch) else { return nil }
        let fields: HTTPFields = [tokenName: token]
        let names = await text(roles, .get, fields, fetch)
        guard let name = names?.split(whereSeparator: \.isNewline).first,
            let url = try? roles.resolving("./" + ObjectText.encode(name.utf8, keepsSlash: false))
        else { return nil }
        return await members(url, .get, fields, fetch).flatMap { S3Credentials(metadata: $0) }
    }

    private func members(
        _ url: DownloadURL, _ method: HTTPRequest.Method, _ fields: HTTPFields, _ fetch: Fetch
    ) async -> [String: String]? {
        guard let text = await text(url, method, fields, fetch) else { return nil }
        return try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    }

    private func text(
        _ url: DownloadURL, _ method: HTTPRequest.Method, _ fields: HTTPFields, _ fetch: Fetch
    ) async -> String? {
        var request = TransferRequest(url: url, fields: fields, headLimit: Self.metadataLimit)
        request.method = method
        request.followsRedirects = false
        request.connection.proxy = .direct
        guard let answer = try? await fetch(request), answer.status == 200 else { return nil }
        let text = String(decoding: answer.body, as: UTF8.self).trimmedText
        return text.isEmpty ? nil : text
    }

    private static func unusable(_ phrase: ErrorPhrase) -> TransferFailure {
        TransferFailure(.store(.invalidRequest), phrase)
    }
}
