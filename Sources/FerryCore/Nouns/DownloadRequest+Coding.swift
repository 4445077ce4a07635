import HTTPTypes

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Encoded as an object. The destination is `path`, `part`, or `directory` with `name`; credentials are `user` and `password`;
/// every other property is a member of ``properties``. A default value is omitted and may also be null. A `checksum` of null is
/// ``DownloadRequest/ignoresEarlierChecksum``.
///
/// Secrets are encoded too; ``withoutSecrets`` is the form for storage and display. Values are not checked; see
/// ``checkValues()``.
extension DownloadRequest: Codable {
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
    /// Throws `invalidRequest` for values that are not permitted in a request, or in a change of a request.
    package func checkValues() throws(DownloadError) {
        for (property, bounds) in Self.bounded where !property.isWithinBounds(self) {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.notInRange, property.key.rawValue, bounds.least, bounds.most))
        }
        if let notBefore, !Self.startTimes.contains(notBefore.timeIntervalSince1970) {
            throw DownloadError(
                .invalidRequest,
                ErrorPhrase(
                    .notInRange, CodingKeys.notBefore.rawValue, "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"))
        }
        let certificates = connection.certificates?.utf8.count ?? 0
        guard certificates <= ConnectionRules.mostTextBytes else {
            throw DownloadError(
                .invalidRequest,
                ErrorPhrase(
                    .notInRange, CodingKeys.certificates.rawValue, "0", "\(ConnectionRules.mostTextBytes)"))
        }
        switch destination {
        case .file(let path), .part(let path), .directory(let path, _):
            try checkName()
            // The system would end such a path at the zero byte.
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
        // The identifier is used as a component of paths, percent-encoded.
        let text = id.rawValue
        guard !text.isEmpty, text.utf8.count <= 256, text != ".", text != "..", id.isOneLine else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableDownloadName, TextError.quote(text)),
                suggestion: ErrorPhrase(.nameDownloads))
        }
    }
}

extension DownloadRequest {
    /// Throws if the file would have the name of a record, because Ferry would trust the downloaded content.
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

    /// The allowed numbers of a property, in the unit of its member: a count, bytes, bytes per second, or seconds.
    package enum Bounds: Sendable, Hashable {
        case whole(ClosedRange<ByteCount>)
        case seconds(ClosedRange<Double>)

        /// Any size in bytes, and any size except 0.
        static let sizes = Bounds.whole(0...(ByteCount.bound - 1))
        static let positive = Bounds.whole(1...(ByteCount.bound - 1))

        package var least: String {
            switch self {
            case .whole(let range): "\(range.lowerBound)"
            case .seconds(let range): Self.text(range.lowerBound)
            }
        }

        package var most: String {
            switch self {
            case .whole(let range): "\(range.upperBound)"
            case .seconds(let range): Self.text(range.upperBound)
            }
        }

        /// Whether the upper bound is the general bound of all sizes.
        package var isOpen: Bool {
            guard case .whole(let range) = self else { return false }
            return range.upperBound == ByteCount.bound - 1
        }

        private static func text(_ seconds: Double) -> String {
            Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
        }
    }

    /// A property of a request, and the name of the member under which it is encoded.
    package struct Property: Sendable {
        /// The time at which a change of a listed download takes effect.
        enum Changes: Sendable {
            /// The property cannot be changed.
            case never
            /// The change takes effect while the download runs.
            case atOnce
            /// The current run is stopped and a new one is started.
            case inNewRun
        }

        package let key: CodingKeys
        fileprivate var isOfRoute: Bool { routeMembers.contains(key) }
        /// The allowed numbers; `nil` for a property that is not a number.
        package let bounds: Bounds?
        let changes: Changes
        let encode: @Sendable (DownloadRequest, inout KeyedEncodingContainer<CodingKeys>) throws -> Void
        let decode: @Sendable (inout DownloadRequest, KeyedDecodingContainer<CodingKeys>) throws -> Void
        let differs: @Sendable (DownloadRequest, DownloadRequest) -> Bool
        /// Whether the value differs from the default.
        let isSet: @Sendable (DownloadRequest) -> Bool
        let copy: @Sendable (_ from: DownloadRequest, _ to: inout DownloadRequest) -> Void
        let isWithinBounds: @Sendable (DownloadRequest) -> Bool

        init<Value: Codable & Equatable & Sendable>(
            _ key: CodingKeys, _ path: any WritableKeyPath<DownloadRequest, Value> & Sendable,
            changes: Changes = .never
        ) {
            self.init(key, path, nil, changes) { _ in true }
        }

        init<Value: Codable & Equatable & Sendable & BoundedNumber>(
            _ key: CodingKeys, _ path: any WritableKeyPath<DownloadRequest, Value> & Sendable, in bounds: Bounds,
            changes: Changes = .never
        ) {
            self.init(key, path, bounds, changes) { $0[keyPath: path].isWithin(bounds) }
        }

        private init<Value: Codable & Equatable & Sendable>(
            _ key: CodingKeys, _ path: any WritableKeyPath<DownloadRequest, Value> & Sendable, _ bounds: Bounds?,
            _ changes: Changes, isWithinBounds: @escaping @Sendable (DownloadRequest) -> Bool
        ) {
            (self.key, self.bounds, self.changes) = (key, bounds, changes)
            self.isWithinBounds = isWithinBounds
            encode = { try $1.encode($0[keyPath: path], forKey: key) }
            decode = { request, container in
                guard try container.contains(key) && !container.decodeNil(forKey: key) else { return }
                request[keyPath: path] = try container.decodeNamed(
                    Value.self, forKey: key, between: bounds.map { ($0.least, $0.most) })
            }
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            let standard = DownloadRequest.plain[keyPath: path]
            isSet = { $0[keyPath: path] != standard }
            copy = { $1[keyPath: path] = $0[keyPath: path] }
        }
    }

    /// The values of ``notBefore`` in seconds since 1970: the years 0 to 9999, which RFC 3339 can represent.
    private static let startTimes = -62_167_219_200.0..<253_402_300_800

    /// The properties that are numbers.
    private static let bounded = properties.compactMap { property in property.bounds.map { (property, $0) } }

    /// The bounds of a member, if its number exceeds them; otherwise `nil`.
    package func exceededBounds(of member: CodingKeys) -> Bounds? {
        Self.properties.first { $0.key == member && !$0.isWithinBounds(self) }?.bounds
    }

    /// Whether a running download must be stopped and started again for this request.
    package func needsNewRun(after old: DownloadRequest) -> Bool {
        credentials != old.credentials || Self.properties.contains { $0.changes != .atOnce && $0.differs(self, old) }
    }

    /// The members that a listed download keeps when it is requested again: its identity, its start and its attributes in the list.
    private static let keptMembers: Set<CodingKeys> = [
        .id, .urls, .headers, .onDuplicate, .startsPaused, .notBefore, .label, .userInfo, .priority,
    ]

    /// Returns the request of a listed download that is requested again: with the credentials and header fields of the new request,
    /// and with the other properties that it sets to a value other than the default.
    ///
    /// The previous secrets are removed if the new request names another server, proxy or certificate for them.
    package func requested(again new: DownloadRequest) -> DownloadRequest {
        var request = self
        let set = Self.properties.filter {
            !Self.keptMembers.contains($0.key) && $0.isSet(new) && $0.differs(self, new)
        }
        if set.contains(where: \.isOfRoute) || set.contains(where: { $0.key == .secretsOrigin }) {
            request.sources = sources.map { $0.with(nil) }
            (request.credentials, request.headers, request.connection.cookies) = (nil, headers.withoutSecrets, nil)
        }
        for property in set { property.copy(new, &request) }
        for name in Set(new.headers.map(\.name)) { request.headers[fields: name] = new.headers[fields: name] }
        if let credentials = new.credentials {
            request.credentials = credentials
            // Credentials in a URL would take precedence over these.
            request.sources = request.sources.map { $0.with(nil) }
        }
        if new.sources.contains(where: { $0.credentials != nil }) { request.sources = new.sources }
        return request
    }

    /// Whether the request sets a property in ``routeMembers``.
    package var hasOwnRoute: Bool { Self.properties.contains { $0.isOfRoute && $0.isSet(self) } }

    /// Whether two requests agree in everything that a complete file can fulfil or not, besides its digest and its size.
    package func wantsSameFile(as other: DownloadRequest) -> Bool {
        checksumList == other.checksumList && pieces == other.pieces && uploadTo == other.uploadTo
    }
}

/// A number in a request, possibly `nil`.
protocol BoundedNumber {
    func isWithin(_ bounds: DownloadRequest.Bounds) -> Bool
}

extension ByteCount: BoundedNumber {
    func isWithin(_ bounds: DownloadRequest.Bounds) -> Bool {
        switch bounds {
        case .whole(let range): range.contains(self)
        case .seconds(let range): range.contains(Double(self))
        }
    }
}

extension Int: BoundedNumber {
    func isWithin(_ bounds: DownloadRequest.Bounds) -> Bool { ByteCount(self).isWithin(bounds) }
}

extension Double: BoundedNumber {
    func isWithin(_ bounds: DownloadRequest.Bounds) -> Bool {
        switch bounds {
        case .whole(let range): ByteCount(exactly: self).map(range.contains) ?? false
        case .seconds(let range): range.contains(self)
        }
    }
}

extension Optional: BoundedNumber where Wrapped: BoundedNumber {
    func isWithin(_ bounds: DownloadRequest.Bounds) -> Bool { map { $0.isWithin(bounds) } ?? true }
}

/// The checksum setting of a request; encoded as the checksum, or as null without one.
struct ChecksumWord: Codable, Hashable, Sendable {
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

/// A URL that is encoded with its user info.
struct WholeURL: Codable, Hashable, Sendable {
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

/// Encoded as the members that differ from their defaults.
extension TrustRules: Codable {
    public init(from decoder: any Decoder) throws { self = try DownloadRequest(from: decoder).trust }

    public func encode(to encoder: any Encoder) throws {
        var request = DownloadRequest.plain
        request.trust = self
        try request.encode(to: encoder)
    }
}
