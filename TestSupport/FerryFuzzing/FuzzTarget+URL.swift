import FerryCore

extension FuzzTarget {
    private static let secret = "s3cr3tW0RD"

    static func url(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        var parsed: DownloadURL?
        do {
            parsed = try DownloadURL(text)
        } catch {
            try promiseOneLine(error.message)
        }
        if let parsed { try checkForm(of: parsed) }
        try checkResolving(text, parsed)
        if !text.contains(secret) { try checkSecret(text) }
    }

    /// Checks the invariants of every URL: it is valid in a request as it is, and is parsed to the same URL.
    static func checkForm(of url: DownloadURL) throws(BrokenPromise) {
        let text = url.text
        try promise(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "not only visible ASCII: \(text.debugDescription)")
        try promise(text.utf8.count <= DownloadURL.maxTextBytes, "\(text.utf8.count) bytes")
        try promise(!text.utf8.contains(UInt8(ascii: "#")), "a fragment: \(text)")
        try promise((1...65_535).contains(url.port), "port \(url.port)")
        try promise(url.path.utf8.first == UInt8(ascii: "/"), "the path of \(text)")
        let segments = url.path.split(at: "/")
        // allow(bytes): a list of segments.
        try promise(!segments.contains(".") && !segments.contains(".."), "dot segments: \(text)")
        let isHost = url.host.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, 0x2D, 0x2E, 0x3A, 0x5F: true
            default: false
            }
        }
        try promise(isHost && !url.host.isEmpty && url.host.utf8.count <= 254, "the host \(url.host.debugDescription)")
        guard let again = try? DownloadURL(text) else { throw BrokenPromise(description: "not read again: \(text)") }
        try promise(again == url.withoutCredentials, "\(text) became \(again.text)")
        try promise(Origin("\(Origin(of: url))") == Origin(of: url), "the origin of \(text) is not read again")
        try promise(!url.redacted.dropLast(2).utf8.contains("?"), "a query is shown: \(url.redacted)")
        try promiseOneLine(url.redacted)
    }

    private static func checkResolving(_ text: String, _ parsed: DownloadURL?) throws(BrokenPromise) {
        guard let base = try? DownloadURL("https://user:word@example.com/a/b/c?d") else { return }
        let resolved: DownloadURL
        do {
            resolved = try base.resolving(text)
        } catch {
            try promiseOneLine(error.message)
            // A redirect must not lead to an object of a store.
            try promise(parsed?.isObject ?? true, "\(text) is a URL, and cannot be gone to")
            return
        }
        try promise(resolved.credentials == nil, "credentials from a redirect")
        try checkForm(of: resolved)
        if let parsed { try promise(resolved == parsed.withoutCredentials, "\(text) leads to \(resolved.text)") }
    }

    /// Checks that a password is in no text that is shown, sent to others or stored.
    private static func checkSecret(_ text: String) throws(BrokenPromise) {
        let url: DownloadURL
        do {
            url = try DownloadURL("http://user:\(secret)@\(text)")
        } catch {
            return try promise(!error.message.contains(secret), "shown: \(error.message)")
        }
        try promise(
            url.credentials?.password.utf8.starts(with: secret.utf8) ?? false, "the password before \(text) is lost")
        for shown in [url.text, url.redacted, "\(url)"] { try promise(!shown.contains(secret), "shown: \(shown)") }
    }
}
