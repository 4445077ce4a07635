package import ArgumentParser
import FerryCore

/// The request options that also apply to all downloads of a fleet's worker.
package struct CommonOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp(
            "A request header, or a file with one header per line, which hides it from the process list.",
            valueName: "'K: V'|@FILE"))
    package var header: [String] = []

    @Option(name: [.customShort("A"), .long], help: ArgumentHelp("The User-Agent header.", valueName: "text"))
    package var userAgent: String?

    @Option(
        help: ArgumentHelp(
            "Connection timeout (default: \(TransferSettings().connectTimeout.components.seconds)).",
            valueName: "seconds"))
    package var connectTimeout: String?

    package init() {}
}

extension CommonOptions {
    /// The options that set one property each.
    static let table: [RequestOption<Self>] = [
        .text("user-agent", \.userAgent, .userAgent, \.connection.userAgent, PlanningWorld.userAgent),
        .text(
            "connect-timeout", \.connectTimeout, .connectTimeout, \.connection.connectTimeout, PlanningWorld.duration),
    ]
}

/// The options of a request.
package struct RequestOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")], parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum connections per file; the best number is determined automatically.", valueName: "n"))
    package var connections = DownloadRequest.plain.maxConnections

    @Option(
        help: ArgumentHelp(
            "Rate limit per second: 500K, 5M, 1MiB; for all files together, with ferry add for each.", valueName: "rate"
        ))
    package var limitRate: String?

    @Option(help: ArgumentHelp("Maximum file size; larger files are refused.", valueName: "size"))
    package var maxSize: String?

    @OptionGroup package var common: CommonOptions

    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp(
            "Credentials for the server; without a URL: USER@HOST. Prompts for a missing password.",
            valueName: "user[:password]"))
    package var user: String?

    @Flag(help: "Read user and password from $NETRC or ~/.netrc.")
    package var netrc = false

    @Option(
        name: [.customShort("e"), .long],
        help: ArgumentHelp("The Referer header: the URL of the linking page.", valueName: "url"))
    package var referer: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Maximum number of redirects in a row.", valueName: "n"))
    package var maxRedirects = DownloadRequest.plain.maxRedirects

    @Flag(help: "Follow redirects from https to http.")
    package var allowDowngrade = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata addresses.")
    package var noPrivate = false

    @Option(
        help: ArgumentHelp(
            """
            Proxy: http://[user:password@]host:port, socks5://host:port or none (default: http_proxy, https_proxy and \
            all_proxy from the environment; for ferry add: the daemon's). no_proxy always applies.
            """,
            valueName: "url"))
    package var proxy: String?

    @Option(help: ArgumentHelp("Trust only the certificates in this PEM file.", valueName: "file"), completion: .file())
    package var caFile: String?

    @Flag(name: [.customShort("k"), .long], help: "Accept any server certificate.")
    package var insecure = false

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp(
            "Cookies for the server, as in a Cookie header; without =, a file, as for --load-cookies.",
            valueName: "'a=b; c=d'|file"))
    package var cookie: [String] = []

    @Option(
        help: ArgumentHelp("Send the cookies of this file (Netscape format).", valueName: "file"), completion: .file())
    package var loadCookies: String?

    @Flag(name: [.customShort("4"), .long], help: "Use IPv4 only.")
    package var ipv4 = false

    @Flag(name: [.customShort("6"), .long], help: "Use IPv6 only.")
    package var ipv6 = false

    @Option(
        help: ArgumentHelp(
            """
            Stop a connection that receives less than 1 KB in this time; also the response timeout (default: \
            \(DownloadRequest.standardStallTimeout.components.seconds)).
            """,
            valueName: "seconds"))
    package var stallTimeout: String?

    @Option(
        help: ArgumentHelp(
            "Replace a connection that is slower than this, on average over --stall-timeout.", valueName: "rate"))
    package var minSpeed: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Consecutive retries without progress before giving up (default: \(DownloadRequest.standardMaxRetries); for \
            ferry get 3 while the server refuses every connection).
            """, valueName: "n|inf"))
    package var retries: String?

    @Option(
        help: ArgumentHelp(
            "Free disk space to keep (default: 1 % of the disk, at most 256MB; for ferry add: the daemon's).",
            valueName: "size"))
    package var minFree: String?

    package init() {}
}

extension RequestOptions {
    static let connections = RequestOption.number(
        "connections", \Self.connections, .maxConnections, \.maxConnections)

    /// The options that set one property each.
    static let table: [RequestOption<Self>] = [
        connections,
        .text("max-size", \.maxSize, .maxBytes, \.maxBytes, PlanningWorld.size),
        .number("max-redirects", \.maxRedirects, .maxRedirects, \.maxRedirects),
        .flag("allow-downgrade", \.allowDowngrade, .allowsDowngrade, \.trust.allowsDowngrade),
        .text("proxy", \.proxy, .proxy, \.connection.proxy, PlanningWorld.proxy),
        .text("ca-file", \.caFile, .certificates, \.connection.certificates, PlanningWorld.certificates),
        .flag("insecure", \.insecure, .insecure, \.connection.insecure),
        .text("load-cookies", \.cookieFile, .cookies, \.connection.cookies, PlanningWorld.cookies),
        .text("stall-timeout", \.stallTimeout, .stallTimeout, \.stallTimeout, PlanningWorld.duration),
        .text("min-speed", \.minSpeed, .minSpeed, \.minSpeed, PlanningWorld.rate),
        .text("retries", \.retries, .maxRetries, \.maxRetries, PlanningWorld.retries),
        .text("min-free", \.minFree, .minFreeBytes, \.minFreeBytes, PlanningWorld.size),
    ]

    /// The cookie files, including those of `--cookie`.
    var cookieFiles: [String] {
        [loadCookies].compactMap(\.self) + cookie.filter { !$0.utf8.contains("=") }
    }

    private var cookieFile: String? { cookieFiles.first }
}

/// The required proofs of integrity.
package struct TrustOptions: ParsableArguments, Sendable {
    @Flag(help: "Require proof that the file is consistent (digest, single or strong).")
    package var strict = false

    @Flag(help: "Use several connections even without a strong validator or digest.")
    package var unproven = false

    @Flag(help: "Resume by comparing samples if the server sends no validator.")
    package var resumeUnproven = false

    @Flag(help: "Fail if the file on the server has changed, and keep the existing data.")
    package var noRestart = false

    @Flag(name: .customLong("accept-html"), help: "Accept an HTML page even if another type is expected.")
    package var acceptHTML = false

    @Flag(help: "Give the finished file the current time, not the server's.")
    package var noMtime = false

    @Flag(help: "Keep the SHA-256 of the file and of its pieces beside it, for ferry verify and ferry repair.")
    package var recordDigests = false

    @Flag(help: "Skip fsync: data survives a crash of ferry, but not a power cut.")
    package var noFsync = false

    package init() {}
}

extension TrustOptions {
    /// The options that set one property each.
    static let table: [RequestOption<Self>] = [
        .flag("strict", \.strict, .strict, \.trust.strict),
        .flag("unproven", \.unproven, .allowsUnprovenParts, \.trust.allowsUnprovenParts),
        .flag("resume-unproven", \.resumeUnproven, .resumesUnproven, \.trust.resumesUnproven),
        .flag("no-restart", \.noRestart, .failsOnChange, \.trust.failsOnChange),
        .flag("accept-html", \.acceptHTML, .acceptsHTML, \.trust.acceptsHTML),
        .flag("no-mtime", \.noMtime, .usesServerTime, \.usesServerTime, sets: false),
        .flag("record-digests", \.recordDigests, .recordsDigests, \.recordsDigests),
        .flag("no-fsync", \.noFsync, .syncsToDisk, \.syncsToDisk, sets: false),
    ]
}
