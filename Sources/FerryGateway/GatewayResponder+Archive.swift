import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// Archives of Debian packages. The sources of apt name the gateway's URL, or apt uses the gateway as its proxy.
extension GatewayResponder {
    /// Indexes and directories are passed through. Packages are downloaded, and verified by the digest from an index; without one,
    /// as for a URL with a query, their versions are distinguished by validators. An index whose URL contains a digest is
    /// downloaded and verified by it.
    func archive(_ rest: Substring, _ visit: Visit) async throws -> Response {
        guard let url = visit.upstream.url(archived: rest) else { throw Problem(.noSuchPath) }
        let parts = url.path.split(at: "/")
        guard let name = parts.last else { return try await pass(visit, url, prefix: "") }
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
            // The archive may have replaced the file without the gateway having seen the new index. A request for a fresh copy
            // is therefore passed through.
            if checksum != nil, visit.wantsFresh { return try await pass(visit, url, prefix: "") }
        }
        var file = GatewayFile(
            kind: .apt, url: url, checksum: checksum, headers: visit.fields(for: url),
            allowsPrivate: visit.allowsPrivate)
        return try await blob(&file, visit, prefix: "")
    }

    /// Reads the digests in a complete file, if it is an index. Called before the last bytes of the file are sent, so that the
    /// digests are available when the client then requests packages.
    func verified(_ file: GatewayFile, _ download: Download) {
        guard file.kind == .apt, let checksum = file.checksum, let path = download.snapshot.finished?.path else {
            return
        }
        digests.add(file.url, .file(path: path, digest: checksum))
    }
}
