import FerryAPI
import FerryCore

/// Texts from outside, in lines of the log and the status line. Pure.
enum GatewayText {
    /// The first 200 bytes, with a question mark for each that is not visible ASCII.
    static func visible(_ text: some StringProtocol) -> String {
        let bytes = text.utf8.prefix(200).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The reason in the status line, which clients show that do not show content.
    static func reason(_ problem: Problem) -> String {
        visible(problem.detail.map { "\(problem.title): \($0)" } ?? problem.title)
    }

    /// What the log has of a request target: the path without secrets. Left out are the query, user info in the URL of
    /// an archive, and of a link to a file the encoded URL, which may have a query.
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
