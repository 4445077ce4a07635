/// Coded as an object: the destination is `path`, `part`, or `directory` with `name`, credentials are `user` and
/// `password`, and every other property is a member of ``properties``. A default is omitted, and may be null.
///
/// Secrets are coded too; ``withoutSecrets`` is the form for storing and showing. Values are not checked; see
/// ``checkValues()``.
extension DownloadRequest: Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable, Sendable {
        case id, urls, directory, name, path, part, onConflict, headers, user, password, secretsOrigin, checksum
        case checksumList, maxConnections, rateLimit, maxBytes, maxRedirects, priority, startsPaused, notBefore, label
        case userInfo, allowsMetered, allowsConstrained, allowsPrivate, onDuplicate, strict, allowsUnprovenParts
        case resumesUnproven, failsOnChange, allowsDowngrade, acceptsHTML, syncsToDisk
    }

    /// The properties with a member of their own; a new property of a request is a line here.
    package static let properties: [Property] = [
        Property(.id, \.id), Property(.urls, \.wholeSources, mayChange: true), Property(.onConflict, \.onConflict),
        Property(.headers, \.headerList, mayChange: true), Property(.secretsOrigin, \.secretsOrigin),
        Property(.checksum, \.checksum, mayChange: true), Property(.checksumList, \.wholeChecksumList),
        Property(.maxConnections, \.maxConnections, mayChange: true),
        Property(.rateLimit, \.rateLimit, mayChange: true),
        Property(.maxBytes, \.maxBytes), Property(.maxRedirects, \.maxRedirects),
        Property(.priority, \.priority, mayChange: true),
        Property(.startsPaused, \.startsPaused), Property(.notBefore, \.notBefore),
        Property(.label, \.label, mayChange: true), Property(.userInfo, \.userInfo, mayChange: true),
        Property(.allowsMetered, \.network.allowsMetered, mayChange: true),
        Property(.allowsConstrained, \.network.allowsConstrained, mayChange: true),
        Property(.allowsPrivate, \.network.allowsPrivate, mayChange: true), Property(.onDuplicate, \.onDuplicate),
        Property(.strict, \.trust.strict), Property(.allowsUnprovenParts, \.trust.allowsUnprovenParts),
        Property(.resumesUnproven, \.trust.resumesUnproven), Property(.failsOnChange, \.trust.failsOnChange),
        Property(.allowsDowngrade, \.trust.allowsDowngrade),
        Property(.acceptsHTML, \.trust.acceptsHTML, mayChange: true), Property(.syncsToDisk, \.syncsToDisk),
    ]

    /// The request without its secrets: user info in URLs, credentials, and headers that may be secret.
    package var withoutSecrets: DownloadRequest {
        var request = self
        request.sources = sources.map { $0.with(nil) }
        request.checksumList = checksumList?.with(nil)
        request.credentials = nil
        request.headers = headers.withoutSecrets
        return request
    }

    /// A request with all defaults; the reader replaces an empty directory by its own default.
    static let plain = DownloadRequest(sources: [], destination: .directory(""))

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        self = Self.plain
        for property in Self.properties { try property.decode(&self, container) }
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
        for property in Self.properties where property.differs(self, Self.plain) {
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

    /// Throws `invalidRequest` for values that no client may send.
    package func checkValues() throws(DownloadError) {
        let sizes = 1...(ByteCount.bound - 1)
        let numbers: [(CodingKeys, ByteCount?, ClosedRange<ByteCount>)] = [
            (.rateLimit, rateLimit, sizes), (.maxBytes, maxBytes, sizes),
            (.maxConnections, ByteCount(maxConnections), sizes), (.maxRedirects, ByteCount(maxRedirects), 0...1000),
        ]
        for case (let key, let number?, let range) in numbers where !range.contains(number) {
            throw DownloadError(
                .invalidRequest,
                ErrorPhrase(.notInRange, key.rawValue, "\(range.lowerBound)", "\(range.upperBound)"))
        }
        guard let id = id?.rawValue else { return }
        // The identifier is a percent-encoded component of paths.
        let isUsable =
            !id.isEmpty && id.utf8.count <= 256 && id != "." && id != ".."
            && id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isUsable else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableDownloadName, TextError.quote(id)),
                suggestion: ErrorPhrase(.nameDownloads))
        }
    }
}

extension DownloadRequest {
    /// A property of a request, and the member that it is coded as.
    package struct Property: Sendable {
        package let key: CodingKeys
        /// Whether the property of a listed download may be changed.
        package let mayChange: Bool
        let encode: @Sendable (DownloadRequest, inout KeyedEncodingContainer<CodingKeys>) throws -> Void
        let decode: @Sendable (inout DownloadRequest, KeyedDecodingContainer<CodingKeys>) throws -> Void
        let differs: @Sendable (DownloadRequest, DownloadRequest) -> Bool
        let copy: @Sendable (_ from: DownloadRequest, _ to: inout DownloadRequest) -> Void

        init<Value: Codable & Equatable & Sendable>(
            _ key: CodingKeys, _ path: any WritableKeyPath<DownloadRequest, Value> & Sendable, mayChange: Bool = false
        ) {
            self.key = key
            self.mayChange = mayChange
            encode = { try $1.encode($0[keyPath: path], forKey: key) }
            decode = { request, container in
                guard try container.contains(key) && !container.decodeNil(forKey: key) else { return }
                request[keyPath: path] = try container.decode(Value.self, forKey: key)
            }
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            copy = { $1[keyPath: path] = $0[keyPath: path] }
        }
    }

    private var headerList: HeaderList {
        get { HeaderList(headers) }
        set { headers = newValue.fields }
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
