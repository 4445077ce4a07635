package import ArgumentParser

/// Options of a command that downloads in its own process.
package struct RunOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("parallel")],
        help: ArgumentHelp("Maximum number of simultaneous files.", valueName: "n"))
    package var parallel = 3

    @Option(
        help: ArgumentHelp(
            "Stop a connection that receives less than 1 KB in this time; also the response timeout (default: 60).",
            valueName: "seconds"))
    package var stallTimeout: String?

    @Option(
        help: ArgumentHelp(
            "Consecutive retries without progress before giving up (default: 10).", valueName: "n|inf"))
    package var retries: String?

    @Option(help: ArgumentHelp("Free disk space to keep (default: 256MB).", valueName: "size"))
    package var minFree: String?

    @Option(help: ArgumentHelp("Send the cookies of this file (Netscape format).", valueName: "file"))
    package var loadCookies: String?

    @Option(help: ArgumentHelp("The User-Agent header.", valueName: "text"))
    package var userAgent: String?

    @Option(help: ArgumentHelp("Connection timeout (default: 15).", valueName: "seconds"))
    package var connectTimeout: String?

    @Option(
        help: ArgumentHelp(
            """
            Proxy: http://[user:password@]host:port, socks5://host:port or none (default: http_proxy, https_proxy and \
            all_proxy from the environment). no_proxy always applies.
            """,
            valueName: "url"))
    package var proxy: String?

    @Option(help: ArgumentHelp("Trust only the certificates in this PEM file.", valueName: "file"))
    package var caFile: String?

    @Flag(help: "Accept any server certificate.")
    package var insecure = false

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    package var ipv4 = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    package var ipv6 = false

    @Flag(help: "Use your own files even if they are group-writable, in a directory shared with a group.")
    package var sharedGroup = false

    package init() {}
}
