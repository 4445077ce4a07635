import Ferry
import FerryCore
import HTTPTypes

/// Chooses the server that `--user` and secret headers are sent to: the servers of URLs on the command line; without
/// one, a server that the user names or confirms. A journal or list alone does not authorize a server.
extension RequestPlanner {
    /// Returns the grant of the command's credentials and secret headers; `nil` if it has none.
    func grant(for items: PlannedItems, _ targets: [Target]) throws(UsageError) -> SecretGrant? {
        guard options.user != nil || items.template.hasSecrets else { return nil }
        let named = Set(
            targets.compactMap { target -> Origin? in
                if case .url(let url) = target { url.origin } else { nil }
            })
        if !named.isEmpty {
            let word = try options.user.map { text throws(UsageError) in try UserWord(text) }
            let areAllNamed = items.allSatisfy { item in
                guard let request = item.request else { return true }
                return SecretScope.home(of: request).map(named.contains) ?? false
            }
            guard areAllNamed else {
                throw UsageError(
                    "--user and --header are for the servers of the URLs; fetch what is of others by another command")
            }
            return try grant(items, word, to: named, partsOf: nil)
        }
        let word = try options.user.map { text throws(UsageError) in try UserWord(namingServer: text) }
        if let server = word?.server {
            try check(server, among: items)
            return try grant(items, word, to: [server], partsOf: server)
        }
        return try grant(items, word)
    }

    /// Checks that something is downloaded from the server that `--user` names.
    private func check(_ server: Origin, among items: PlannedItems) throws(UsageError) {
        if items.contains(where: { origins(of: $0).contains(server) }) { return }
        let plain = Origin(scheme: .http, host: server.host, port: server.port == 443 ? 80 : server.port)
        if server.scheme == .https, items.contains(where: { origins(of: $0).contains(plain) }) {
            throw UsageError(
                "--user: what is there of \(server.host) is fetched over http; "
                    + "write NAME@\(plain) if the password may be sent unencrypted")
        }
        throw UsageError(
            "--user: nothing there is of the server that follows the last @; "
                + "a name with an @ of its own is written NAME@HOST too: me@example.com@HOST")
    }

    /// Grants the secrets to the only server. Asks the user first if part files or documents name it, which others may
    /// have written.
    private func grant(_ items: PlannedItems, _ word: UserWord?) throws(UsageError) -> SecretGrant {
        var servers: Set<Origin> = []
        for item in items {
            servers.formUnion(origins(of: item))
            if servers.count > 1 << 10 { break }
        }
        // No server is known, so no secrets are sent.
        guard let server = servers.first else { return try grant(items, nil, to: [], partsOf: nil) }
        guard servers.count == 1 else {
            let names = servers.map(\.description).sorted()
            let some = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
            throw UsageError(
                "--user and --header are for one server, and there are several (\(some)): "
                    + "write --user NAME@HOST, or give the URL")
        }
        guard items.hasDocuments || items.contains(where: { $0.request?.sources.isEmpty == true }) else {
            return try grant(items, word, to: servers, partsOf: nil)
        }
        let both: Reason = items.template.hasSecrets ? "user name and password and headers" : "user name and password"
        let what: Reason = word == nil ? "headers" : both
        let question: Reason = "Send \(what) to \(server)?"
        guard try world.confirm(question.local) else {
            throw UsageError("\(what) were not sent: write --user NAME@HOST, or give the URL")
        }
        return try grant(items, word, to: servers, partsOf: server)
    }

    private func grant(
        _ items: PlannedItems, _ word: UserWord?, to servers: Set<Origin>, partsOf server: Origin?
    ) throws(UsageError) -> SecretGrant {
        SecretGrant(
            servers: servers, partServer: server,
            credentials: try word.map { word throws(UsageError) in try world.credentials(of: word) },
            headers: items.template.headers)
    }

    /// Returns the servers of an item, as far as they are known.
    private func origins(of item: GetPlan.Item) -> Set<Origin> {
        if let home = item.request.flatMap(SecretScope.home(of:)) { return [home] }
        switch item {
        case .parts(let directory, _): return world.journalOrigins(directory)
        case .request(let request):
            guard case .part(let path) = request.destination else { return [] }
            return world.journalOrigins(path)
        case .unusable: return []
        }
    }
}

/// A line editor for passwords typed without echo.
package struct PasswordLine: Sendable, Hashable {
    package enum Answer: Sendable, Hashable {
        case more
        case done(String)
        /// Ctrl-D on an empty line.
        case nothing
        /// Ctrl-C or Ctrl-\.
        case interrupted
    }

    private var bytes: [UInt8] = []

    package init() {}

    /// Processes one byte of input: line end, backspace (one character), Ctrl-U (whole line), or text.
    package mutating func take(_ byte: UInt8) -> Answer {
        switch byte {
        case 0x0A, 0x0D: return .done(String(decoding: bytes, as: UTF8.self))
        case 0x03, 0x1C: return .interrupted
        case 0x04: return bytes.isEmpty ? .nothing : .more
        case 0x08, 0x7F:
            while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            return .more
        case 0x15:
            bytes = []
            return .more
        default:
            if bytes.count < 4096 { bytes.append(byte) }
            return .more
        }
    }
}

/// The credentials and secret headers of a command, and the servers that they are for. All other items are downloaded
/// without them, also those that a list got after it was checked.
struct SecretGrant: Sendable {
    var servers: Set<Origin>
    /// The server of part files whose URLs only their journals name; `nil` if these get no secrets.
    var partServer: Origin?
    var credentials: Credentials?
    /// The headers that all items of the command share.
    var headers: HTTPFields

    func apply(to item: GetPlan.Item) -> GetPlan.Item {
        switch item {
        case .request(let request): .request(applied(to: request))
        case .parts(let directory, let request): .parts(directory: directory, applied(to: request))
        case .unusable: item
        }
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        var request = request
        if request.sources.isEmpty ? partServer != nil : SecretScope.home(of: request).map(servers.contains) ?? false {
            request.credentials = credentials
            if request.sources.isEmpty { request.secretsOrigin = partServer }
        } else {
            // Secret headers of its own list entry remain.
            let all = request.headers
            request.headers = HTTPFields()
            for field in all where !field.name.isSecret || !headers.contains(field) { request.headers.append(field) }
        }
        return request
    }
}

/// Finds the secrets in a command line: passwords, header values, and user info in URLs and proxies.
package enum ArgumentSecrets {
    /// Returns the byte ranges to hide in each argument.
    package static func ranges(in arguments: [[UInt8]]) -> [[Range<Int>]] {
        var option: String?
        return arguments.map { argument in
            if let name = option {
                option = nil
                return ranges(of: argument[...], for: name)
            }
            let text = String(decoding: argument, as: UTF8.self)
            if secretOptions.contains(text) {
                option = text
                return []
            }
            if text.utf8.hasPrefix("proxy=") { return proxyUserInfo(argument.dropFirst("proxy=".utf8.count)) }
            if let name = secretOptions.first(where: { text.utf8.hasPrefix($0 + "=") }) {
                return ranges(of: argument.dropFirst(name.utf8.count + 1), for: name)
            }
            return userInfo(argument[...])
        }
    }

    private static let secretOptions = [
        "--user", "--header", "--cookie", "--proxy", "-u", "-H", "-b", "--http-user", "--http-passwd", "--rpc-secret",
        "--all-proxy", "--http-proxy", "--https-proxy", "--all-proxy-passwd", "--http-proxy-passwd",
        "--https-proxy-passwd", "--aria2-secret",
    ]

    private static func ranges(of value: ArraySlice<UInt8>, for option: String) -> [Range<Int>] {
        switch option {
        case "--header" where value.first == UInt8(ascii: "@"), "-H" where value.first == UInt8(ascii: "@"),
            "--aria2-secret" where value.first == UInt8(ascii: "@"):
            []
        case "--proxy", "--all-proxy", "--http-proxy", "--https-proxy": proxyUserInfo(value)
        default: value.isEmpty ? [] : [value.indices]
        }
    }

    /// Returns the range from `://` to the last `@` of the authority, which ends at `/`, `?` or `#` (RFC 3986 §3.2); of a
    /// database's URL to the last `@`, as libpq reads it.
    private static func userInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let start = afterScheme(text) else { return [] }
        let rest = text[start...]
        if text.starts(with: "postgres".utf8) {
            return rest.lastIndex(of: UInt8(ascii: "@")).map { [start..<$0] } ?? []
        }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard let at = rest[..<(end ?? rest.endIndex)].lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [start..<at]
    }

    /// Returns the range up to the last `@`, as a proxy's password may contain a `/`.
    private static func proxyUserInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [(afterScheme(text[..<at]) ?? text.startIndex)..<at]
    }

    private static func afterScheme(_ text: ArraySlice<UInt8>) -> Int? {
        let separator = Array("://".utf8)
        return text.indices.first { text[$0...].starts(with: separator) }.map { $0 + separator.count }
    }
}
