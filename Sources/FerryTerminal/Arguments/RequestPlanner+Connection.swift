import Ferry
import FerryCore
import HTTPTypes

/// The options of a request that say how it connects, and how long it tries.
extension RequestPlanner {
    /// Sets the options in a request. Files are read here: the daemon gets their contents and opens none of them.
    func applyConnection(to request: inout DownloadRequest) throws(UsageError) {
        if options.ipv4, options.ipv6 { throw UsageError("-4 and -6 contradict each other") }
        if options.ipv4 || options.ipv6 { request.connection.addressFamily = options.ipv4 ? .v4 : .v6 }
        if let text = options.proxy { request.connection.proxy = try PlanningWorld.proxy(text, option: "--proxy") }
        if let path = options.caFile {
            request.connection.certificates = try world.certificates(path, option: "--ca-file")
        }
        request.connection.insecure = options.insecure
        if let text = options.userAgent {
            request.connection.userAgent = try PlanningWorld.userAgent(text, option: "--user-agent")
        }
        let files = [options.loadCookies].compactMap(\.self) + options.cookie.filter { !$0.utf8.contains("=") }
        guard files.count <= 1 else { throw UsageError("--load-cookies takes one file") }
        // allow(secrets): each cookie has its host.
        if let path = files.first { request.connection.cookies = try world.cookies(path, option: "--load-cookies") }
        if let text = options.connectTimeout {
            request.connection.connectTimeout = try PlanningWorld.duration(text, option: "--connect-timeout")
        }
        if let text = options.stallTimeout {
            request.stallTimeout = try PlanningWorld.duration(text, option: "--stall-timeout")
        }
        if let text = options.retries { request.maxAttempts = try PlanningWorld.attempts(text, option: "--retries") }
        if let text = options.minFree { request.minFreeBytes = try PlanningWorld.size(text, option: "--min-free") }
    }
}

extension PlanningWorld {
    static func proxy(_ text: String, option: String) throws(UsageError) -> ProxyChoice {
        try value(option) { () throws(TextError) in try ProxyChoice(parsing: text) }
    }

    static func userAgent(_ text: String, option: String) throws(UsageError) -> String {
        try field("User-Agent", text, option: option).value
    }

    static func duration(_ text: String, option: String) throws(UsageError) -> Duration {
        let duration = try value(option) { () throws(TextError) in try DurationText.parse(text) }
        guard duration > .zero else { throw UsageError("\(option) needs more than 0 seconds") }
        return duration
    }

    /// Returns the maximum number of consecutive attempts: a number, or `inf`.
    package static func attempts(_ text: String, option: String) throws(UsageError) -> Int {
        if text == "inf" { return DownloadRequest.mostAttempts }
        guard let number = Int(text), 0...DownloadRequest.mostAttempts ~= number else {
            throw UsageError("\(option) needs a number or inf, not \(TextError.quote(text))")
        }
        return number
    }

    /// Returns the text of a file of certificates.
    func certificates(_ path: String, option: String) throws(UsageError) -> String {
        let text = try read(path, what: "CA file")
        guard PEMText.holdsCertificate(text) else {
            throw UsageError("\(option): \(path) holds no certificate in PEM form")
        }
        guard text.utf8.count <= ConnectionRules.mostTextBytes else {
            throw UsageError("\(option): \(path) is larger than 1 MiB; SSL_CERT_FILE may name a file of any size")
        }
        return text
    }

    /// Returns the cookies of a file.
    func cookies(_ path: String, option: String) throws(UsageError) -> CookieJar {
        let jar = CookieJar(netscapeFile: try read(path, what: "cookie file"))
        guard jar.count > 0 || jar.skippedLines.isEmpty else {
            throw UsageError(
                "\(option): \(path) is no cookie file in Netscape format: "
                    + "a line has seven fields with tabs between them")
        }
        return jar
    }
}
