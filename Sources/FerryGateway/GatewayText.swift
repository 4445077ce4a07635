import FerryAPI
import FerryCore

/// Makes strings from clients and servers safe for the log and the status line. Pure.
enum GatewayText {
    /// Returns the first 200 bytes, with a question mark in place of each byte that is not printable ASCII.
    static func visible(_ text: some StringProtocol) -> String {
        let bytes = text.utf8.prefix(200).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the reason for the status line, for clients that do not show the content.
    static func reason(_ problem: Problem) -> String {
        visible(problem.detail.map { "\(problem.title): \($0)" } ?? problem.title)
    }

    /// Returns the path of a request target for the log, without possible secrets: the query, user info in the URL of an
    /// archive, and the encoded URL in a link to a file, which may contain a query.
    static func path(_ target: Substring) -> String {
        let path = target.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        if let rest = path.dropping(prefix: GatewayRoute.links) {
            return visible(GatewayRoute.links + ".../" + (rest.split(at: "/").last ?? ""))
        }
        if let rest = path.dropping(prefix: GatewayRoute.archives) {
            let authority = rest.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
            if let end = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
                return visible(GatewayRoute.archives + rest[authority.utf8.index(after: end)...])
            }
        }
        return visible(path)
    }
}
