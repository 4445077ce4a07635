import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

/// The registry of container images (OCI Distribution), for pulling.
extension GatewayResponder {
    /// Blobs are downloaded and verified by their digests; everything else is passed through.
    func registry(_ rest: Substring, _ visit: Visit) async throws -> Response {
        let url = try visit.url(rest)
        let parts = rest.split(at: "?", maxSplits: 1).first?.split(at: "/") ?? []
        guard parts.count >= 4, parts[parts.count - 2].hasSameBytes(as: "blobs"),
            let digest = parts.last?.dropping(prefix: "sha256:"), let checksum = try? Checksum(parsing: String(digest)),
            checksum.algorithm == .sha256
        else { return try await pass(visit, url, prefix: "/") }
        var file = GatewayFile(
            kind: .oci, url: url, checksum: checksum,
            headers: visit.fields(for: visit.upstream.base), allowsPrivate: visit.allowsPrivate)
        var response = try await blob(&file, visit, prefix: "/")
        if let name = HTTPField.Name("Docker-Content-Digest"), 200...299 ~= response.status.code {
            response.headers[name] = "sha256:\(checksum.hex)"
        }
        return response
    }
}
