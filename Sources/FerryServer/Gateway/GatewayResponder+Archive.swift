import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Archives of Debian packages, which are named in the sources of apt, or for which the gateway is its proxy.
extension GatewayResponder {
    /// Indexes pass through. Packages are downloads: compared with the digest that an index has named, else told apart by
    /// their validators. Indexes under a digest are compared with it.
    func archive(_ rest: Substring, _ visit: Visit) async throws -> Response {
        guard let url = visit.upstream.url(archived: rest) else { throw Problem(.noSuchPath) }
        let parts = url.path.split(at: "/")
        guard url.query == nil, let name = parts.last else { return try await pass(visit, url, prefix: "") }
        let isByHash = parts.dropLast().suffix(2).elementsEqual(["by-hash", "SHA256"])
        let isIndex = parts.contains { $0.hasSameBytes(as: "dists") }
        guard isByHash || !isIndex && url.path.utf8.last != UInt8(ascii: "/") else {
            return try await pass(visit, url, prefix: "") { [digests] bytes in
                if let bytes { digests.add(url, .passed(bytes)) } else { digests.leftOut(url) }
            }
        }
        let checksum: Checksum?
        if isByHash {
            checksum = try? Checksum(parsing: "sha256:\(name)")
        } else {
            checksum = await digests.digest(of: url)
            // The way out for a file that its archive has replaced, whose new index has not passed.
            if checksum != nil, visit.wantsFresh { return try await pass(visit, url, prefix: "") }
        }
        var file = GatewayFile(
            kind: .apt, url: url, checksum: checksum, headers: visit.fields(for: url),
            allowsPrivate: visit.allowsPrivate)
        return try await blob(&file, visit, prefix: "")
    }

    /// Reads the digests that a complete file has, if it is an index. Called before the last bytes of it are sent, so that
    /// a client that then asks for packages finds them.
    func verified(_ file: GatewayFile, _ download: Download) {
        guard file.kind == .apt, let checksum = file.checksum, let path = download.snapshot.finished?.path else {
            return
        }
        digests.add(file.url, .file(path: path, digest: checksum))
    }
}
