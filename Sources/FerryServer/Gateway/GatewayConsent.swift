import Ferry
import FerryCore
import HTTPTypes

/// What a server has said about a file to one client, in its response to HEAD. Pure.
///
/// A 2xx is no consent by itself: it may be about something else, such as a sign-in page at the end of redirects.
struct GatewayConsent: Sendable, Hashable {
    /// The origin of the last response.
    let origin: Origin
    let size: ByteCount?
    /// A strong validator.
    let tag: String?
    /// Whether the response is a web page, and the file is none by its name.
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

    /// Whether the response is about the bytes of a download: of its size, else with its validator, and from an origin
    /// that has served them.
    ///
    /// Bytes that everybody may have are judged by the digest alone; a size that differs is still of something else.
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
