import FerryCore

/// A 401 response of a server: it refuses the credentials of the request, or has received none.
struct Refusal: Sendable {
    private let host: String
    private let wasAuthorized: Bool
    /// Whether redirects led to this server, so that it does not get the credentials of the download.
    private let isOfTarget: Bool

    /// `nil` for a response with another status.
    init?(_ response: TransferResponse, of source: DownloadURL) {
        guard response.head.status == 401 else { return nil }
        host = response.url.host
        wasAuthorized = response.wasAuthorized
        // allow(origin): chooses a sentence; carries no secret.
        isOfTarget = !response.redirects.isEmpty && response.url.origin != source.origin
    }

    /// Returns an error that names the server, in place of one that requests credentials although the server has refused the given
    /// ones, or does not get them.
    func explained(_ error: DownloadError, holdsBytes: Bool) -> DownloadError {
        guard error.code == .credentials else { return error }
        if isOfTarget {
            return DownloadError(
                .credentials, ErrorPhrase(wasAuthorized ? .credentialsRefused : .targetAsksForCredentials, host),
                suggestion: ErrorPhrase(.giveTargetLink), recovery: .needsUser)
        }
        guard wasAuthorized, error.phrase?.key != .asksForField else { return error }
        return DownloadError(
            .credentials, ErrorPhrase(.credentialsRefused, host),
            suggestion: ErrorPhrase(holdsBytes ? .giveCredentials : .giveCredentialsFirst), recovery: .needsUser)
    }
}
