import ArgumentParser
import FerryTerminal

/// Options for connections and credentials, shared by `get` and `plan`.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A request header, or a file with one header per line, which hides it from the process list.",
            valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Credentials for the server; without a URL: USER@HOST. Prompts for a missing password.",
            valueName: "user[:password]"))
    var user: String?

    @Flag(help: "Read user and password from $NETRC or ~/.netrc.")
    var netrc = false

    @Option(help: ArgumentHelp("Send the cookies of this file (Netscape format).", valueName: "file"))
    var loadCookies: String?

    @Option(help: ArgumentHelp("The User-Agent header.", valueName: "text"))
    var userAgent: String?

    @Option(help: ArgumentHelp("The Referer header: the URL of the linking page.", valueName: "url"))
    var referer: String?

    @Option(help: ArgumentHelp("Connection timeout (default: 15).", valueName: "seconds"))
    var connectTimeout: String?

    @Option(
        help: ArgumentHelp(
            """
            Proxy: http://[user:password@]host:port, socks5://host:port or none (default: http_proxy, https_proxy and \
            all_proxy from the environment). no_proxy always applies.
            """,
            valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("Trust only the certificates in this PEM file.", valueName: "file"))
    var caFile: String?

    @Flag(help: "Accept any server certificate.")
    var insecure = false

    @Flag(help: "Follow redirects from https to http.")
    var allowDowngrade = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata addresses.")
    var noPrivate = false

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    var ipv4 = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    var ipv6 = false

    func fill(_ options: inout GetOptions) {
        options.headers = header
        options.user = user
        options.netrc = netrc
        options.cookieFile = loadCookies
        options.userAgent = userAgent
        options.referer = referer
        options.connectTimeout = connectTimeout
        options.proxy = proxy
        options.caFile = caFile
        options.insecure = insecure
        options.allowDowngrade = allowDowngrade
        options.noPrivate = noPrivate
        options.ipv4 = ipv4
        options.ipv6 = ipv6
    }
}
