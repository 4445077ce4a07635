import Ferry
import FerryCore
import FerryTerminal
import HTTPTypes

/// A download of aria2c, and whether its list entry sets the route to the server.
struct RoutedItem: Sendable, Hashable {
    var item: GetPlan.Item
    var route = SecretGrant.Route.ofCommand

    fileprivate var home: Origin? { item.request.flatMap(SecretScope.home(of:)) }
}

/// Decides which downloads of aria2c get the secrets of the command: those from the server of the command's first URI or, if it
/// has no URI, from the only server in its lists. An entry with its own route to the server gets none.
extension Aria2Planner {
    /// Whether the command has credentials or secret headers.
    var hasSecrets: Bool { secrets.user != nil || !secrets.headers.isEmpty }

    /// Whether a download with these options gets the passwords of the netrc file.
    func readsNetrc(_ values: Aria2Values) -> Bool {
        guard values["http-user"] == nil, secrets.user == nil, !values.flag("no-netrc") else { return false }
        let path = world.environment["NETRC"] ?? world.environment["HOME"].map { Paths.join($0, ".netrc") }
        return path.map { world.kind($0) == .file } ?? false
    }

    /// Returns the downloads with their secrets, downloads of lists first, and the warnings about the downloads without
    /// secrets.
    ///
    /// - Parameters:
    ///   - listed: The downloads of lists and documents.
    ///   - own: The downloads of the command's words.
    func grantSecrets(
        to listed: [RoutedItem], _ own: [GetPlan.Item], hasDocuments: Bool
    ) throws(Aria2Failure) -> (items: [GetPlan.Item], warnings: [String]) {
        let all = listed + own.map { RoutedItem(item: $0) }
        var warnings: [String] = []
        let routed = all.count { $0.route == .ofEntry }
        if routed > 0, hasSecrets || readsNetrc(values) || values["load-cookies"] != nil {
            warnings.append(
                "secrets and cookies of the command and netrc are not used for \(routed) downloads, whose entries in the "
                    + "list set a proxy or check-certificate=false; netrc is used after no redirect")
        }
        guard hasSecrets else { return (all.map(\.item), warnings) }
        let given = own.lazy.compactMap { RoutedItem(item: $0).home }.first
        let named = ListedServers(listed.map { item -> Set<Origin> in item.home.map { [$0] } ?? [] })
        guard let server = given ?? named.only else {
            if !named.isEmpty {
                warnings.append(
                    "credentials and secret headers of the command are for one server, and there are several "
                        + "(\(named.shown)): none gets them; give a URI of the server")
            }
            return (all.map(\.item), warnings)
        }
        let grant = try grant(to: server, asks: given == nil && hasDocuments)
        let left = all.count { $0.route == .ofCommand && grant.leavesOut($0.item) }
        if left > 0 {
            warnings.append(
                "credentials and secret headers of the command are for \(server) alone: \(left) downloads do without")
        }
        return (all.map { grant.apply(to: $0.item, over: $0.route) }, warnings)
    }

    /// Returns the grant of the command's secrets to a server.
    ///
    /// - Parameter asks: Whether the user has to confirm the server, because it is named in a document that others may have
    ///   written.
    private func grant(to server: Origin, asks: Bool) throws(Aria2Failure) -> SecretGrant {
        let headers = secrets.headers
        let (what, isSent): (Reason, Bool)
        do throws(UsageError) {
            let credentials = try secrets.user.map { text throws(UsageError) in
                try world.credentials(of: UserWord(text))
            }
            let grant = SecretGrant(servers: [server], credentials: credentials, headers: headers)
            guard asks else { return grant }
            let both: Reason = headers.isEmpty ? "user name and password" : "user name and password and headers"
            what = credentials == nil ? "headers" : both
            let question: Reason = "Send \(what) to \(server)?"
            isSent = try world.confirm(question.local)
            if isSent { return grant }
        } catch { throw Aria2Failure(.unknown, error.message) }
        throw Aria2Failure(.unknown, "\(what) were not sent: give a URI of the server")
    }
}
