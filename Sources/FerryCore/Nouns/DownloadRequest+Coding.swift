import HTTPTypes

/// Coded as an object: the destination is `path`, `part`, or `directory` with `name`, credentials are `user` and
/// `password`, and every other property is a member of ``properties``. A default is omitted, and may be null; a
/// `checksum` of null is ``DownloadRequest/ignoresEarlierChecksum``.
///
/// Secrets are coded too; ``withoutSecrets`` is the form for storing and showing. Values are not checked; see
/// ``checkValues()``.
extension DownloadRequest: Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable, Sendable {
        case id, urls, directory, name, path, part, onConflict, headers, user, password, secretsOrigin, checksum
        case checksumList, maxConnections, rateLimit, maxBytes, maxRedirects, priority, startsPaused, notBefore, label
        case userInfo, allowsMetered, allowsConstrained, allowsPrivate, onDuplicate, strict, allowsUnprovenParts
        case resumesUnproven, failsOnChange, allowsDowngrade, acceptsHTML, syncsToDisk, usesServerTime
        case proxy, certificates, insecure, addressFamily, connectTimeout, userAgent, cookies
        case stallTimeout, maxAttempts, minFreeBytes, expectedBytes, pieces, recordsDigests, uploadTo
    }

    /// The properties with a member of their own; a new property of a request is a line here.
    package static let properties: [Property] = [
        Property(.id, \.id), Property(.urls, \.wholeSources, changes: .inNewRun),
        Property(.onConflict, \.onConflict, changes: .inNewRun),
        Property(.headers, \.headerList, changes: .inNewRun), Property(.secretsOrigin, \.secretsOrigin),
        Property(.checksum, \.checksumWord, changes: .inNewRun), Property(.checksumList, \.wholeChecksumList),
        Property(.maxConnections, \.maxConnections, changes: .atOnce),
        Property(.rateLimit, \.rateLimit, changes: .atOnce),
        Property(.maxBytes, \.maxBytes, changes: .inNewRun), Property(.expectedBytes, \.expectedBytes),
        Property(.pieces, \.pieces),
        Property(.maxRedirects, \.maxRedirects),
        Property(.priority, \.priority, changes: .atOnce),
        Property(.startsPaused, \.startsPaused), Property(.notBefore, \.notBefore, changes: .inNewRun),
        Property(.label, \.label, changes: .atOnce), Property(.userInfo, \.userInfo, changes: .atOnce),
        Property(.allowsMetered, \.network.allowsMetered, changes: .atOnce),
        Property(.allowsConstrained, \.network.allowsConstrained, changes: .atOnce),
        Property(.allowsPrivate, \.network.allowsPrivate, changes: .inNewRun),
        Property(.onDuplicate, \.onDuplicate),
        Property(.strict, \.trust.strict), Property(.allowsUnprovenParts, \.trust.allowsUnprovenParts),
        Property(.resumesUnproven, \.trust.resumesUnproven, changes: .inNewRun),
        Property(.failsOnChange, \.trust.failsOnChange),
        Property(.allowsDowngrade, \.trust.allowsDowngrade, changes: .inNewRun),
        Property(.acceptsHTML, \.trust.acceptsHTML, changes: .inNewRun), Property(.syncsToDisk, \.syncsToDisk),
        Property(.usesServerTime, \.usesServerTime), Property(.recordsDigests, \.recordsDigests),
        Property(.uploadTo, \.uploadTo),
        Property(.proxy, \.connection.proxy, changes: .inNewRun),
        Property(.certificates, \.connection.certificates, changes: .inNewRun),
        Property(.insecure, \.connection.insecure, changes: .inNewRun),
        Property(.addressFamily, \.connection.addressFamily, changes: .inNewRun),
        Property(.connectTimeout, \.connectSeconds, changes: .inNewRun),
        Property(.userAgent, \.connection.userAgent, changes: .inNewRun),
        Property(.cookies, \.connection.cookies, changes: .inNewRun),
        Property(.stallTimeout, \.stallSeconds, changes: .inNewRun),
        Property(.maxAttempts, \.maxAttempts, changes: .inNewRun),
        Property(.minFreeBytes, \.minFreeBytes, changes: .inNewRun),
    ]

    /// The members that decide which machines and certificates a download's secrets pass through.
    package static let routeMembers: Set<CodingKeys> = [.proxy, .certificates, .insecure]

    /// The request without its secrets: user info in URLs, credentials, headers that may be secret, cookies, and the
    /// credentials of its proxy.
    package var withoutSecrets: DownloadRequest {
        var request = self
        request.sources = sources.map { $0.with(nil) }
        request.checksumList = checksumList?.with(nil)
        request.credentials = nil
        request.headers = headers.withoutSecrets
        request.connection = connection.withoutSecrets
        return request
    }

    /// A request with all defaults; the reader replaces an empty directory by its own default.
    static let plain = DownloadRequest(sources: [], destination: .directory(""))

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        self = Self.plain
        for property in Self.properties { try property.decode(&self, container) }
        ignoresEarlierChecksum = try container.contains(.checksum) && container.decodeNil(forKey: .checksum)
        let name = try text(.name).map { NameRule.exact($0) } ?? .suggested
        let places: [Destination] = [
            try text(.path).map { .file($0) }, try text(.part).map { .part($0) },
            try text(.directory).map { .directory($0, name: name) },
        ].compactMap(\.self)
        guard places.count <= 1 else { throw DownloadError(.invalidRequest, ErrorPhrase(.severalPlaces)) }
        destination = places.first ?? .directory("", name: name)
        let (user, password) = (try text(.user), try text(.password))
        credentials = user.map { Credentials(user: $0, password: password ?? "") }
        if user == nil, password != nil { throw DownloadError(.invalidRequest, ErrorPhrase(.passwordAlone)) }
    }

    /// Throws for a stream, which cannot be sent to another process.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for property in Self.properties where property.isSet(self) {
            try property.encode(self, &container)
        }
        switch destination {
        case .file(let path): try container.encode(path, forKey: .path)
        case .part(let path): try container.encode(path, forKey: .part)
        case .directory(let path, let name):
            if !path.isEmpty { try container.encode(path, forKey: .directory) }
            if case .exact(let name) = name { try container.encode(name, forKey: .name) }
        case .stream: throw DownloadError(.invalidRequest, ErrorPhrase(.keptStream))
        }
        try container.encodeIfPresent(credentials?.user, forKey: .user)
        try container.encodeIfPresent(credentials?.password, forKey: .password)
    }
}

extension DownloadRequest {
    /// The longest time limit of a request: three years.
    private static let mostTime = Duration.seconds(100_000_000)

    /// Throws `invalidRequest` for values that no request and no change of one may have.
    package func checkValues() throws(DownloadError) {
        let sizes = 1...(ByteCount.bound - 1)
        let certificates = connection.certificates.map { ByteCount($0.utf8.count) }
        let numbers: [(CodingKeys, ByteCount?, ClosedRange<ByteCount>)] = [
            (.rateLimit, rateLimit, sizes), (.maxBytes, maxBytes, sizes),
            (.maxConnections, ByteCount(maxConnections), sizes), (.maxRedirects, ByteCount(maxRedirects), 0...1000),
            (.maxAttempts, maxAttempts.map { ByteCount($0) }, 0...ByteCount(Self.mostAttempts)),
            (.minFreeBytes, minFreeBytes, 0...(ByteCount.bound - 1)),
            (.expectedBytes, expectedBytes, 0...(ByteCount.bound - 1)),
            (.certificates, certificates, 0...ByteCount(ConnectionRules.mostTextBytes)),
        ]
        for case (let key, let number?, let range) in numbers where !range.contains(number) {
            throw DownloadError(
                .invalidRequest,
                ErrorPhrase(.notInRange, key.rawValue, "\(range.lowerBound)", "\(range.upperBound)"))
        }
        for case (let key, let time?) in [
            (CodingKeys.stallTimeout, stallTimeout), (.connectTimeout, connection.connectTimeout),
        ] where time <= .zero || time > Self.mostTime {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.notInRange, key.rawValue, "0.001", "\(Self.mostTime.components.seconds)"))
        }
        switch destination {
        case .file(let path), .part(let path), .directory(let path, _):
            try checkName()
            // The system takes such a path for the shorter one before the byte.
            guard path.utf8.contains(0) else { break }
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableName, String(path.prefix(40)), ErrorPhrase(.zeroInName)))
        case .stream: break
        }
        if let uploadTo, !uploadTo.isObject || uploadTo.query != nil || uploadTo.path.utf8.hasPrefix("//") {
            throw DownloadError(.invalidRequest, ErrorPhrase(.uploadsObjects), recovery: .needsUser)
        }
        if let text = connection.certificates, !PEMText.holdsCertificate(text) {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noCertificate), recovery: .needsUser)
        }
        if let agent = connection.userAgent, !HTTPField.isValidValue(agent) || agent.utf8.count > 4096 {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableUserAgent), recovery: .needsUser)
        }
        guard sources.count <= Self.mostSources else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.manySources, "\(sources.count)", "\(Self.mostSources)"),
                recovery: .needsUser)
        }
        let size = userInfo.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= 4096 else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.longUserInfo, "\(size)"))
        }
        if let label, label.utf8.count > 4096 {
            throw DownloadError(.invalidRequest, ErrorPhrase(.longLabel, "\(label.utf8.count)"))
        }
        guard let id else { return }
        // It is a component of paths, percent-encoded.
        let text = id.rawValue
        guard !text.isEmpty, text.utf8.count <= 256, text != ".", text != "..", id.isOneLine else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableDownloadName, TextError.quote(text)),
                suggestion: ErrorPhrase(.nameDownloads))
        }
    }
}

extension DownloadRequest {
    /// Throws if the file would have the name of a record, which Ferry would believe.
    private func checkName() throws(DownloadError) {
        switch destination {
        case .file(let path): try ExactName.checkMeaning(Paths.name(of: path))
        case .directory(_, .exact(let name)): try ExactName.checkMeaning(name)
        case .part(let path):
            let name = Paths.name(of: path)
            let stem = [ReservedName.journal, .part].lazy.compactMap { name.dropping(suffix: $0.text) }.first
            try ExactName.checkMeaning(String(stem ?? name[...]))
        case .directory, .stream: break
        }
    }

    /// A property of a request, and the member that it is coded as.
    package struct Property: Sendable {
        /// When a change of a listed download's takes effect.
        enum Changes: Sendable {
            /// It cannot be changed.
            case never
            /// While the download runs.
            case atOnce
            /// A run is stopped, and another one started.
            case inNewRun
        }

        package let key: CodingKeys
        let changes: Changes
        let encode: @Sendable (DownloadRequest, inout KeyedEncodingContainer<CodingKeys>) throws -> Void
        let decode: @Sendable (inout DownloadRequest, KeyedDecodingContainer<CodingKeys>) throws -> Void
        let differs: @Sendable (DownloadRequest, DownloadRequest) -> Bool
        /// Whether the value is not the default.
        let isSet: @Sendable (DownloadRequest) -> Bool
        let copy: @Sendable (_ from: DownloadRequest, _ to: inout DownloadRequest) -> Void

        init<Value: Codable & Equatable & Sendable>(
            _ key: CodingKeys, _ path: any WritableKeyPath<DownloadRequest, Value> & Sendable,
            changes: Changes = .never
        ) {
            self.key = key
            self.changes = changes
            encode = { try $1.encode($0[keyPath: path], forKey: key) }
            decode = { request, container in
                guard try container.contains(key) && !container.decodeNil(forKey: key) else { return }
                request[keyPath: path] = try container.decode(Value.self, forKey: key)
            }
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            let standard = DownloadRequest.plain[keyPath: path]
            isSet = { $0[keyPath: path] != standard }
            copy = { $1[keyPath: path] = $0[keyPath: path] }
        }
    }

    /// Whether a running download must be stopped and started again for this request.
    package func needsNewRun(after old: DownloadRequest) -> Bool {
        Self.properties.contains { $0.changes == .inNewRun && $0.differs(self, old) }
    }

    private var headerList: HeaderList {
        get { HeaderList(headers) }
        set { headers = newValue.fields }
    }
    private var connectSeconds: Double? {
        get { connection.connectTimeout?.seconds }
        set { connection.connectTimeout = newValue.map(Self.time) }
    }
    private var stallSeconds: Double? {
        get { stallTimeout?.seconds }
        set { stallTimeout = newValue.map(Self.time) }
    }
    /// The time limit, rounded to milliseconds; one out of bounds stays out of bounds.
    private static func time(_ seconds: Double) -> Duration {
        .milliseconds(Int64((min(max(seconds, 0), 1e9) * 1000).rounded()))
    }
    private var checksumWord: ChecksumWord {
        get { ChecksumWord(checksum: checksum, ignoresEarlier: ignoresEarlierChecksum) }
        set { (checksum, ignoresEarlierChecksum) = (newValue.checksum, newValue.ignoresEarlier) }
    }
    private var wholeSources: [WholeURL] {
        get { sources.map { WholeURL(url: $0) } }
        set { sources = newValue.map(\.url) }
    }
    private var wholeChecksumList: WholeURL? {
        get { checksumList.map { WholeURL(url: $0) } }
        set { checksumList = newValue?.url }
    }
}

/// What a request says about its checksum; coded as the checksum, or as null without one.
private struct ChecksumWord: Codable, Hashable, Sendable {
    let checksum: Checksum?
    let ignoresEarlier: Bool

    init(checksum: Checksum?, ignoresEarlier: Bool) {
        (self.checksum, self.ignoresEarlier) = (checksum, ignoresEarlier)
    }

    init(from decoder: any Decoder) throws { self.init(checksum: try Checksum(from: decoder), ignoresEarlier: false) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let checksum { try container.encode(checksum) } else { try container.encodeNil() }
    }
}

/// A URL that is coded with its user info.
private struct WholeURL: Codable, Hashable, Sendable {
    let url: DownloadURL

    init(url: DownloadURL) { self.url = url }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        url = try DownloadURL(text)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(url.textWithUserInfo)
    }
}

/// Coded as those members of a request that have not their defaults.
extension TrustRules: Codable {
    public init(from decoder: any Decoder) throws { self = try DownloadRequest(from: decoder).trust }

    public func encode(to encoder: any Encoder) throws {
        var request = DownloadRequest.plain
        request.trust = self
        try request.encode(to: encoder)
    }
}
