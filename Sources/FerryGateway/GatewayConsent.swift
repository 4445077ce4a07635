import Ferry
import FerryCore
import HTTPTypes

/// A server's description of a file for one client, from its response to HEAD. Pure.
///
/// A 2xx status alone is not the server's consent to sending the file to the client, because the response may be about something
/// else, such as a sign-in page after redirects.
struct GatewayConsent: Sendable, Hashable {
    /// The origin of the last response.
    let origin: Origin
    let size: ByteCount?
    /// A strong validator.
    let tag: String?
    /// Whether the response is a web page although the file, according to its name, is not.
    let isPage: Bool

    init(_ head: ResponseHead, at url: DownloadURL, of file: GatewayFile) {
        origin = url.origin
        size = head.single(.contentLength).flatMap { ByteCount($0) }.flatMap { $0.isSize ? $0 : nil }
        tag = head.single(.eTag).flatMap { EntityTag($0) }.flatMap { $0.isWeak ? nil : $0.field }
        let type = head.single(.contentType)?.split(at: ";").first?.trimmedText.lowercased() ?? ""
        let name = file.url.path.lowercased()
        isPage =
            ["text/html", "application/xhtml+xml"].contains(type)
            && ![".html", ".htm", ".xhtml"].contains { name.utf8.hasSuffix($0) }
    }

    /// Whether the response is about the bytes of a download. It must come from an origin that has served them; for public bytes
    /// the origin does not matter.
    ///
    /// For a completed download, the response must have the same size or, without a size, the same validator. For another download,
    /// it must not have a different size.
    func isAbout(_ download: DownloadSnapshot, as file: GatewayFile) -> Bool {
        guard !isPage else { return false }
        let isOpen = download.request.userInfo == GatewayFile.isOpen
        guard let finished = download.finished else {
            let known = download.request.userInfo[GatewayFile.originMember].map { [$0] } ?? []
            guard isOpen || ([file.url.origin.description] + known).contains(origin.description) else { return false }
            guard let size, let expected = download.request.expectedBytes else { return true }
            return size == expected
        }
        let served = try? DownloadURL(finished.redactedFinalURL.split(at: "?").first.map { String($0) } ?? "").origin
        // allow(origin): whose response it is; carries no secret.
        guard isOpen || origin == file.url.origin || origin == served else { return false }
        if let size { return size == finished.totalBytes }
        return tag != nil && tag == finished.etag
    }
}
