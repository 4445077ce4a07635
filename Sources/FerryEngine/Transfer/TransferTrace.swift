import FerryCore
import HTTPTypes
import NIOHTTP1

/// Reports the exchanges of one fetch, without secrets: no query of a URL, no credentials or cookies, and only the values of the
/// user's and the manager's headers that are not secret.
struct TransferTrace: Sendable {
    private let tell: @Sendable (Reason) -> Void
    private let secrets: SecretScope
    private let shared: SharedHeaders

    /// `nil` if nothing is to be reported.
    init?(_ request: TransferRequest, _ settings: TransferSettings) {
        guard settings.tracesRequests, let trace = request.trace else { return nil }
        tell = trace
        secrets = request.secrets
        shared = settings.headers
    }

    func sends(_ fields: HTTPHeaders, to url: DownloadURL) {
        let masked = Set(
            secrets.headers(for: url, shared).filter(\.name.isSecret).map(\.name.canonicalName)
                + ["authorization", "cookie", "x-amz-security-token"])
        let text = fields.map { name, value in
            "\(name): \(masked.contains(name.lowercased()) ? "…" : value)"
        }
        tell(Reason(.requestSent, url.redacted, text.joined(separator: "; ")))
    }

    func received(_ head: ResponseHead, from url: DownloadURL, to next: DownloadURL?) {
        let text = head.headers.map { field in
            "\(field.name.rawName): \([.setCookie, .location].contains(field.name) ? "…" : field.value)"
        }
        tell(Reason(.responseReceived, "\(head.status)", url.redacted, text.joined(separator: "; ")))
        if let next { tell(Reason(.redirected, url.redacted, next.redacted)) }
    }

    func opened(_ peer: String) { tell(Reason(.connectionMade, peer)) }

    func closed(_ peer: String) { tell(Reason(.connectionEnded, peer)) }
}
