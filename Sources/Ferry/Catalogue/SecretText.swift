import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON object that stores the secrets of one download. Its members are `version`, `id` and, if present, `credentials`,
/// `sources` (by index), `checksumList` (each with `user` and `password`), `headers` (pairs), `proxy` (a URL), `cookies` (a
/// Netscape cookie file), and `origin`, the origin to which credentials and headers may be sent. The entry of a source contains its
/// own `origin` in addition to `user` and `password`.
struct SecretText: Codable {
    private enum Key: String, CodingKey {
        case version, id, origin, credentials, sources, checksumList, headers, proxy, cookies
    }
    private static let currentVersion = 1

    /// The maximum size of the text, in bytes; the headers of a request are always shorter.
    static let maxBytes = 16 * 1024 * 1024

    enum Unreadable: Error { case tooLong, newerVersion }

    /// Encodes a download's secrets. Throws `tooLong` if the text would exceed the size that can be read back.
    static func data(_ secrets: Secrets, of id: DownloadID) throws -> Data {
        let data = try StoredText.data(SecretText(id: id.rawValue, secrets: secrets))
        guard data.count <= maxBytes else { throw Unreadable.tooLong }
        return data
    }

    /// The secrets in a text; `nil` if the text belongs to another download.
    static func secrets(of id: DownloadID, in data: Data) throws -> Secrets? {
        guard data.count <= maxBytes else { throw Unreadable.tooLong }
        let text = try StoredText.value(SecretText.self, data)
        return text.id == id.rawValue ? text.secrets : nil
    }

    /// The error for a text that cannot be read; it never includes the text.
    static func unreadable(_ message: ErrorPhrase) -> DownloadError {
        DownloadError(
            .credentials, message, suggestion: ErrorPhrase(.giveAgain),
            underlying: "it is damaged, or a newer version of Ferry wrote it", recovery: .needsUser)
    }

    let id: String
    let secrets: Secrets

    init(id: String, secrets: Secrets) {
        self.id = id
        self.secrets = secrets
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Self.currentVersion, forKey: .version)
        try object.encode(id, forKey: .id)
        try object.encodeIfPresent(secrets.home?.description, forKey: .origin)
        try object.encodeIfPresent(secrets.credentials.map { Login($0) }, forKey: .credentials)
        if !secrets.sources.isEmpty {
            let byText = secrets.sources.map { (String($0), Login($1, for: secrets.origins[$0])) }
            try object.encode(Dictionary(byText) { first, _ in first }, forKey: .sources)
        }
        try object.encodeIfPresent(secrets.checksumList.map { Login($0) }, forKey: .checksumList)
        if !secrets.headers.isEmpty { try object.encode(secrets.headers, forKey: .headers) }
        try object.encodeIfPresent(secrets.proxy, forKey: .proxy)
        try object.encodeIfPresent(secrets.cookies, forKey: .cookies)
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        guard try object.decode(Int.self, forKey: .version) <= Self.currentVersion else {
            throw Unreadable.newerVersion
        }
        id = try object.decode(String.self, forKey: .id)
        var secrets = Secrets()
        secrets.home = try object.decodeIfPresent(String.self, forKey: .origin).flatMap { Origin($0) }
        secrets.credentials = try object.decodeIfPresent(Login.self, forKey: .credentials)?.credentials
        for (index, login) in try object.decodeIfPresent([String: Login].self, forKey: .sources) ?? [:] {
            guard let index = Int(index) else { continue }
            secrets.sources[index] = login.credentials
            secrets.origins[index] = login.origin.flatMap { Origin($0) }
        }
        secrets.checksumList = try object.decodeIfPresent(Login.self, forKey: .checksumList)?.credentials
        secrets.headers = try object.decodeIfPresent([StoredHeader].self, forKey: .headers) ?? []
        secrets.proxy = try object.decodeIfPresent(ProxyChoice.self, forKey: .proxy)
        secrets.cookies = try object.decodeIfPresent(CookieJar.self, forKey: .cookies)
        self.secrets = secrets
    }

    private struct Login: Codable {
        let user: String
        let password: String
        let origin: String?

        init(_ credentials: Credentials, for origin: Origin? = nil) {
            user = credentials.user
            password = credentials.password
            self.origin = origin?.description
        }

        var credentials: Credentials { Credentials(user: user, password: password) }
    }
}
