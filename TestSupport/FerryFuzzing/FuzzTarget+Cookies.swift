import FerryCore

extension FuzzTarget {
    /// Set-Cookie fields of one host, one per line.
    static func setCookie(_ input: [UInt8]) throws(BrokenPromise) {
        guard let from = try? DownloadURL("https://www.example.com/folder/file"),
            let plain = try? DownloadURL("http://www.example.com/folder/file")
        else { return }
        var all = CookieJar()
        let lines = input.split(separator: 0x0A).prefix(200).map { String(decoding: $0, as: UTF8.self) }
        for line in lines {
            all.store(line, from: from, now: now)
            var one = CookieJar()
            one.store(line, from: from, now: now)
            try promise(one.count <= 1, "\(one.count) cookies of one field")
            try checkStrangers(one)
            try checkHeader(one, for: from)
            if isSecure(line) { try promise(one.header(for: plain, now: now) == nil, "sent in the clear: \(line)") }
        }
        try promise(all.count <= min(lines.count, 100), "\(all.count) cookies of \(lines.count) fields")
        try checkStrangers(all)
        try checkHeader(all, for: from)
    }

    /// A cookie file in Netscape format.
    static func cookieFile(_ input: [UInt8]) throws(BrokenPromise) {
        let jar = CookieJar(netscapeFile: String(decoding: input, as: UTF8.self))
        let lineCount = input.count { $0 == 0x0A } + 1
        try promise(jar.count + jar.skippedLines.count <= lineCount, "\(jar.count) of \(lineCount) lines")
        for (line, next) in zip([0] + jar.skippedLines, jar.skippedLines + [lineCount + 1]) {
            try promise(line < next, "line \(line) before \(next)")
        }
        for text in [
            "https://example.com/", "http://a.b.example.com:81/folder/x", "https://127.0.0.1/", "http://[::1]/",
        ] {
            if let url = try? DownloadURL(text) { try checkHeader(jar, for: url) }
        }
    }

    private static func checkHeader(_ jar: CookieJar, for url: DownloadURL) throws(BrokenPromise) {
        guard let header = jar.header(for: url, now: now) else { return }
        try promise(!header.isEmpty && header.utf8.count <= CookieJar.maxHeaderBytes, "\(header.utf8.count) bytes")
        try promiseFieldValue(header)
    }

    /// Checks that the cookies of one site are not sent to others.
    private static func checkStrangers(_ jar: CookieJar) throws(BrokenPromise) {
        for host in ["example.net", "com", "xexample.com", "www.example.com.net", "127.0.0.1"] {
            guard let url = try? DownloadURL("https://\(host)/folder/file") else { continue }
            try promise(jar.header(for: url, now: now) == nil, "a cookie for \(host)")
        }
    }

    private static func isSecure(_ field: String) -> Bool {
        field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).dropFirst().prefix(64)
            .contains { $0.elementsEqual(" Secure".utf8) }
    }
}
