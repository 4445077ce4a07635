import Ferry
import FerryCore
import HTTPTypes

/// Chooses the servers that receive `--user` and secret headers: those of URLs on the command line. Without such URLs, only
/// a server that the user names or confirms receives them, because a journal or list alone does not authorize a server.
extension RequestPlanner {
    /// Returns the grant of the command's credentials and secret headers; `nil` if it has none.
    func grant(for items: PlannedItems, _ targets: [Target]) throws(UsageError) -> SecretGrant? {
        guard options.user != nil || !secretHeaders.isEmpty else { return nil }
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
                    "--user and --header are for the servers of the URLs; fetch from others with another command")
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

    /// Checks that an item is downloaded from the server that `--user` names.
    private func check(_ server: Origin, among items: PlannedItems) throws(UsageError) {
        if items.contains(where: { origins(of: $0).contains(server) }) { return }
        let plain = Origin(scheme: .http, host: server.host, port: server.port == 443 ? 80 : server.port)
        if server.scheme == .https, items.contains(where: { origins(of: $0).contains(plain) }) {
            throw UsageError(
                "--user: the files of \(server.host) are fetched over http; "
                    + "write NAME@\(plain) if the password may be sent unencrypted")
        }
        throw UsageError(
            "--user: no file is from the server after the last @; "
                + "a name that contains @ is written NAME@HOST too: me@example.com@HOST")
    }

    /// Grants the secrets to the only server. Prompts the user first if the server is named by part files or documents,
    /// which others may have written.
    private func grant(_ items: PlannedItems, _ word: UserWord?) throws(UsageError) -> SecretGrant {
        let listed = ListedServers(items.lazy.map { origins(of: $0) })
        // No server is known, so no secrets are sent.
        if listed.isEmpty { return try grant(items, nil, to: [], partsOf: nil) }
        guard let server = listed.only else {
            throw UsageError(
                "--user and --header are for one server, and there are several (\(listed.shown)): "
                    + "write --user NAME@HOST, or give the URL")
        }
        guard items.hasDocuments || items.contains(where: { $0.request?.sources.isEmpty == true }) else {
            return try grant(items, word, to: [server], partsOf: nil)
        }
        let both: Reason = !secretHeaders.isEmpty ? "user name and password and headers" : "user name and password"
        let what: Reason = word == nil ? "headers" : both
        let question: Reason = "Send \(what) to \(server)?"
        guard try world.confirm(question.local) else {
            throw UsageError("\(what) were not sent: write --user NAME@HOST, or give the URL")
        }
        return try grant(items, word, to: [server], partsOf: server)
    }

    private func grant(
        _ items: PlannedItems, _ word: UserWord?, to servers: Set<Origin>, partsOf server: Origin?
    ) throws(UsageError) -> SecretGrant {
        SecretGrant(
            servers: servers, partServer: server,
            credentials: try word.map { word throws(UsageError) in try world.credentials(of: word) },
            headers: secretHeaders)
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
