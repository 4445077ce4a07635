package import FerryCore
import HTTPTypes

extension NewDownload {
    /// Converts to a request for a validated destination; throws `invalidRequest` for invalid values.
    package func request(to destination: DownloadRequest.Destination) throws(DownloadError) -> DownloadRequest {
        var request = DownloadRequest(sources: [], destination: destination)
        for url in urls { request.sources.append(try Self.source(url)) }
        if let id {
            guard Self.isUsable(id) else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.unusableDownloadName, APIText.quote(id)),
                    suggestion: ErrorPhrase(.nameDownloads))
            }
            request.id = DownloadID(rawValue: id)
        }
        if let onConflict { request.onConflict = onConflict }
        if let headers { request.headers = headers.fields }
        if let user { request.credentials = Credentials(user: user, password: password ?? "") }
        if user == nil, password != nil { throw DownloadError(.invalidRequest, ErrorPhrase(.passwordAlone)) }
        if let secretsOrigin {
            guard let origin = Origin(secretsOrigin) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.unusableOrigin, APIText.quote(secretsOrigin)))
            }
            request.secretsOrigin = origin
        }
        request.checksum = try Self.checksum(checksum)
        if let checksumList { request.checksumList = try Self.source(checksumList) }
        if let maxConnections {
            guard maxConnections >= 1 else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.belowOne, "maxConnections"))
            }
            request.maxConnections = maxConnections
        }
        for (name, limit) in [("rateLimit", rateLimit), ("maxBytes", maxBytes)] { try Self.check(limit, name) }
        request.rateLimit = rateLimit
        request.maxBytes = maxBytes
        if let priority { request.priority = DownloadPriority(rawValue: priority) }
        if let startsPaused { request.startsPaused = startsPaused }
        request.notBefore = notBefore
        request.network = NetworkRule(
            allowsMetered: allowsMetered, allowsConstrained: allowsConstrained, allowsPrivate: allowsPrivate)
        request.label = label
        if let userInfo { request.userInfo = userInfo }
        if let onDuplicate { request.onDuplicate = onDuplicate }
        if let strict { request.trust.strict = strict }
        if let allowsUnprovenParts { request.trust.allowsUnprovenParts = allowsUnprovenParts }
        if let resumesUnproven { request.trust.resumesUnproven = resumesUnproven }
        if let failsOnChange { request.trust.failsOnChange = failsOnChange }
        if let allowsDowngrade { request.trust.allowsDowngrade = allowsDowngrade }
        if let acceptsHTML { request.trust.acceptsHTML = acceptsHTML }
        if let syncsToDisk { request.syncsToDisk = syncsToDisk }
        return request
    }

    /// Converts a request for sending over the Unix socket; `nil` for a stream destination, which other processes
    /// cannot write.
    package init?(_ request: DownloadRequest) {
        self.init(urls: request.sources.map(\.textWithUserInfo))
        switch request.destination {
        case .file(let path): self.path = path
        case .directory(let directory, .suggested): self.directory = directory
        case .directory(let directory, .exact(let name)):
            self.directory = directory
            self.name = name
        case .part(let part): self.part = part
        case .stream: return nil
        }
        let plain = DownloadRequest(sources: [], destination: request.destination)
        func unlessPlain<Value: Equatable>(_ path: KeyPath<DownloadRequest, Value>) -> Value? {
            request[keyPath: path] == plain[keyPath: path] ? nil : request[keyPath: path]
        }
        id = request.id?.rawValue
        onConflict = unlessPlain(\.onConflict)
        headers = request.headers.isEmpty ? nil : HeaderList(request.headers)
        user = request.credentials?.user
        password = request.credentials?.password
        secretsOrigin = request.secretsOrigin?.description
        checksum = request.checksum?.description
        checksumList = request.checksumList?.textWithUserInfo
        maxConnections = unlessPlain(\.maxConnections)
        rateLimit = request.rateLimit
        maxBytes = request.maxBytes
        priority = unlessPlain(\.priority)?.rawValue
        startsPaused = unlessPlain(\.startsPaused)
        notBefore = request.notBefore
        allowsMetered = request.network.allowsMetered
        allowsConstrained = request.network.allowsConstrained
        allowsPrivate = request.network.allowsPrivate
        label = request.label
        userInfo = unlessPlain(\.userInfo)
        onDuplicate = unlessPlain(\.onDuplicate)
        strict = unlessPlain(\.trust.strict)
        allowsUnprovenParts = unlessPlain(\.trust.allowsUnprovenParts)
        resumesUnproven = unlessPlain(\.trust.resumesUnproven)
        failsOnChange = unlessPlain(\.trust.failsOnChange)
        allowsDowngrade = unlessPlain(\.trust.allowsDowngrade)
        acceptsHTML = unlessPlain(\.trust.acceptsHTML)
        syncsToDisk = unlessPlain(\.syncsToDisk)
    }

    /// Throws unless the limit is 1 or more and a valid size.
    package static func check(_ limit: ByteCount?, _ name: String) throws(DownloadError) {
        guard let limit else { return }
        guard limit >= 1 else { throw DownloadError(.invalidRequest, ErrorPhrase(.belowOne, name)) }
        guard limit.isSize else { throw DownloadError(.invalidRequest, ErrorPhrase(.beyondSizes, name)) }
    }

    package static func source(_ text: String) throws(DownloadError) -> DownloadURL {
        do throws(DownloadURL.ParseError) {
            return try DownloadURL(text)
        } catch { throw DownloadError(.invalidRequest, error.phrase) }
    }

    package static func checksum(_ text: String?) throws(DownloadError) -> Checksum? {
        guard let text else { return nil }
        do throws(Checksum.ParseError) {
            return try Checksum(parsing: text)
        } catch { throw DownloadError(.invalidRequest, error.reason) }
    }

    /// Whether the identifier can be used in paths of the API, percent-encoded.
    private static func isUsable(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 256 && id != "." && id != ".."
            && id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

extension DownloadURL {
    /// The whole URL with user info, for the Unix socket only.
    package var textWithUserInfo: String {
        guard let credentials else { return text }
        let start = text.index(text.startIndex, offsetBy: scheme.rawValue.count + 3)
        let user = Self.encoded(credentials.user) + ":" + Self.encoded(credentials.password)
        return text[..<start] + user + "@" + text[start...]
    }

    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + String(UInt16(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
            }
        }
        return encoded
    }
}
