import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Archives of Debian packages, which are named in the sources of apt, or for which the gateway is its proxy.
extension GatewayResponder {
    /// Indexes pass through. Packages are downloads, told apart by their validators; indexes under a digest are
    /// compared with it. apt compares all that it gets with signed digests itself.
    func archive(_ rest: Substring, _ visit: Visit) async throws -> Response {
        guard let url = visit.upstream.url(archived: rest) else { throw Problem(.noSuchPath) }
        let parts = url.path.split(at: "/")
        guard url.query == nil, let name = parts.last else { return try await pass(visit, url, prefix: "") }
        let digest = parts.dropLast().suffix(2).elementsEqual(["by-hash", "SHA256"])
        let isIndex = parts.contains { $0.hasSameBytes(as: "dists") }
        guard digest || !isIndex && url.path.utf8.last != UInt8(ascii: "/") else {
            return try await pass(visit, url, prefix: "")
        }
        var file = GatewayFile(
            kind: .apt, url: url, checksum: digest ? try? Checksum(parsing: "sha256:\(name)") : nil,
            headers: visit.fields(for: url), allowsPrivate: visit.allowsPrivate)
        return try await blob(&file, visit, prefix: "")
    }
}
