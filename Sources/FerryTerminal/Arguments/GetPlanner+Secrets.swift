import Ferry
import FerryCore
import HTTPTypes

/// Chooses the server that `--user` and secret headers are sent to: the servers of URLs on the command line; without
/// one, a server that the user names or confirms. A journal or list alone does not authorize a server.
extension GetPlanner {
    /// Returns the items with the credentials and secret headers that apply to each.
    func giving(
        _ items: [GetPlan.Item], _ targets: [Target], template: DownloadRequest
    ) throws(UsageError) -> [GetPlan.Item] {
        guard options.user != nil || template.hasSecrets else { return items }
        let named = Set(
            targets.compactMap { target -> Origin? in
                if case .url(let url) = target { url.origin } else { nil }
            })
        if !named.isEmpty {
            let word = try options.user.map { text throws(UsageError) in try UserWord(text) }
            guard items.allSatisfy({ item in SecretScope.home(of: item.request).map(named.contains) ?? false }) else {
                throw UsageError(
                    "--user and --header are for the servers of the URLs; fetch what is of others by another command")
            }
            return try give(items, word, server: nil)
        }
        let word = try options.user.map { text throws(UsageError) in try UserWord(namingServer: text) }
        if let server = word?.server { return try give(to: server, among: items, word, template) }
        return try give(items, word, asking: template)
    }

    /// Applies the secrets to the server that `--user` names; items of other servers are downloaded without them.
    private func give(
        to server: Origin, among items: [GetPlan.Item], _ word: UserWord?, _ template: DownloadRequest
    ) throws(UsageError) -> [GetPlan.Item] {
        let origins = items.map { self.origins(of: $0) }
        guard origins.contains(where: { $0.contains(server) }) else {
            let plain = Origin(scheme: .http, host: server.host, port: server.port == 443 ? 80 : server.port)
            if server.scheme == .https, origins.contains(where: { $0.contains(plain) }) {
                throw UsageError(
                    "--user: what is there of \(server.host) is fetched over http; "
                        + "write NAME@\(plain) if the password may be sent unencrypted")
            }
            throw UsageError(
                "--user: nothing there is of the server that follows the last @; "
                    + "a name with an @ of its own is written NAME@HOST too: me@example.com@HOST")
        }
        var chosen: [GetPlan.Item] = []
        var rest: [(index: Int, item: GetPlan.Item)] = []
        for (index, item) in items.enumerated() {
            if !item.request.sources.isEmpty, SecretScope.home(of: item.request) != server {
                rest.append((index, item.without(template)))
            } else {
                chosen.append(item)
            }
        }
        var given = try give(chosen, word, server: server)
        for (index, item) in rest { given.insert(item, at: index) }
        return given
    }

    /// Applies the secrets if there is only one server. Asks the user first if part files are among the items.
    private func give(
        _ items: [GetPlan.Item], _ word: UserWord?, asking template: DownloadRequest
    ) throws(UsageError) -> [GetPlan.Item] {
        var origins: Set<Origin> = []
        for item in items { origins.formUnion(self.origins(of: item)) }
        // No server is known, so no secrets are sent.
        guard let server = origins.first else { return items.map { $0.without(template) } }
        guard origins.count == 1 else {
            let names = origins.map(\.description).sorted()
            let some = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
            throw UsageError(
                "--user and --header are for one server, and there are several (\(some)): "
                    + "write --user NAME@HOST, or give the URL")
        }
        guard items.contains(where: \.request.sources.isEmpty) else { return try give(items, word, server: nil) }
        let things = [word == nil ? nil : "user name and password", template.hasSecrets ? "headers" : nil]
        let what = things.compactMap(\.self).joined(separator: " and ")
        guard try world.confirm("Send \(what) to \(server)?") else {
            throw UsageError("\(what) were not sent: write --user NAME@HOST, or give the URL")
        }
        return try give(items, word, server: server)
    }

    private func give(
        _ items: [GetPlan.Item], _ word: UserWord?, server: Origin?
    ) throws(UsageError) -> [GetPlan.Item] {
        let credentials = try word.map { word throws(UsageError) in try self.credentials(of: word) }
        return items.map { item in
            var item = item
            item.request.credentials = credentials
            if item.request.sources.isEmpty { item.request.secretsOrigin = server }
            return item
        }
    }

    /// Returns the servers of an item, as far as they are known.
    private func origins(of item: GetPlan.Item) -> Set<Origin> {
        if let home = SecretScope.home(of: item.request) { return [home] }
        switch item {
        case .parts(let directory, _): return Set(world.journalURLs(directory).map(\.origin))
        case .request(let request):
            guard case .part(let path) = request.destination else { return [] }
            return Set(world.journalURLs(path).map(\.origin))
        }
    }
}

extension GetPlan.Item {
    /// Returns the item without the template's secret headers. Secret headers of its own list entry remain.
    fileprivate func without(_ template: DownloadRequest) -> GetPlan.Item {
        var item = self
        item.request.headers = HTTPFields()
        for field in request.headers where !field.name.isSecret || !template.headers.contains(field) {
            item.request.headers.append(field)
        }
        return item
    }
}
