package import FerryCore

/// A kind of server for which the gateway is a cache.
package enum GatewayKind: String, Sendable, Hashable, CaseIterable {
    /// An index of Python packages (PEP 503, PEP 691).
    case pypi
    /// A hub of models and data sets, as `huggingface_hub` uses it.
    case hf
    /// A registry of container images (OCI Distribution).
    case oci
    /// An archive of Debian packages.
    case apt
}

/// A server for which the gateway is a cache: `KIND=URL`.
package struct GatewayUpstream: Sendable, Hashable {
    package let kind: GatewayKind
    /// The base URL. Its path ends with a slash, and it has no query and no user info.
    package let base: DownloadURL

    /// Parses an upstream. Throws the reason if the text does not denote one.
    package init(parsing text: String) throws(TextError) {
        let parts = text.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = GatewayKind(rawValue: String(parts[0])) else {
            throw TextError(ErrorPhrase(.notAnUpstream, TextError.quote(text)))
        }
        let url: DownloadURL
        do throws(DownloadError) { url = try DownloadURL(String(parts[1])) } catch {
            throw TextError(ErrorPhrase(.notAnUpstream, TextError.quote(text)))
        }
        guard url.credentials == nil, url.query == nil else { throw TextError(ErrorPhrase(.upstreamWithSecrets)) }
        // As a proxy of its clients, the gateway can read only plain HTTP requests.
        guard !url.isObject, kind != .apt || url.scheme == .http else {
            throw TextError(ErrorPhrase(.notAnUpstream, TextError.quote(text)))
        }
        self.kind = kind
        let whole = url.path.utf8.last == UInt8(ascii: "/") ? url.text : url.text + "/"
        do throws(DownloadError) { base = try DownloadURL(whole) } catch {
            throw TextError(ErrorPhrase(.notAnUpstream, TextError.quote(text)))
        }
    }

    /// Parses the upstreams of a setting: at most one of each kind, except that there may be several archives.
    package static func all(_ texts: [String]) throws(TextError) -> [GatewayUpstream] {
        var all: [GatewayUpstream] = []
        for text in texts {
            let new = try GatewayUpstream(parsing: text)
            guard new.kind == .apt || !all.contains(where: { $0.kind == new.kind }), all.count < 100 else {
                throw TextError(ErrorPhrase(.secondUpstream, new.kind.rawValue))
            }
            all.append(new)
        }
        return all
    }

    /// Returns the URL of a path and query below the upstream. Returns `nil` if the path could lead elsewhere: it begins with
    /// an empty segment, contains a control character, or has a segment `.` or `..`, even after decoding it once or twice or
    /// splitting it at backslashes. Spaces and backslashes in the path must be encoded.
    package func url(_ rest: Substring) -> DownloadURL? {
        let path = rest.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        guard rest.utf8.first != UInt8(ascii: "/"), !rest.utf8.contains(UInt8(ascii: "#")), Self.isPlain(path),
            let url = try? DownloadURL("\(base.text)\(rest)")
        else { return nil }
        return self.rest(of: url) == nil ? nil : url
    }

    private static func isPlain(_ path: Substring) -> Bool {
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "\\") }) else { return false }
        var text = path
        for _ in 0..<3 {
            let parts = text.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
                !parts.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
            else { return false }
            text = Substring(String(decoding: PercentEncoding.decode(text.utf8), as: UTF8.self))
        }
        return true
    }

    /// Returns the URL of an archive's file, given as host and path; `nil` if it is not below the upstream.
    package func url(archived text: Substring) -> DownloadURL? {
        "http://\(text)".dropping(prefix: base.text).flatMap { url($0) }
    }

    /// Returns the path of a URL relative to the upstream, with its query; `nil` if the URL is not below the upstream.
    package func rest(of url: DownloadURL) -> Substring? {
        url.text.dropping(prefix: base.text)
    }
}
