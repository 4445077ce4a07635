import ArgumentParser
import FerryTerminal

/// Options about how to reach a server and who to be there; `get` and `plan` share them.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A header to send; or a file with one a line, which keeps it out of the process list.",
            valueName: "'K: V'|@FILE"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Who to be; without a URL USER@HOST says where. Without a password it is asked for on the terminal.",
            valueName: "user[:password]"))
    var user: String?

    @Flag(help: "Take user and password from $NETRC or ~/.netrc.")
    var netrc = false

    @Option(help: ArgumentHelp("Send the cookies of this file (Netscape format).", valueName: "file"))
    var loadCookies: String?

    @Option(help: ArgumentHelp("What to say about who asks.", valueName: "text"))
    var userAgent: String?

    @Option(help: ArgumentHelp("The page that the link is from.", valueName: "url"))
    var referer: String?

    @Option(help: ArgumentHelp("The longest time for one connection to be made (default: 15).", valueName: "seconds"))
    var connectTimeout: String?

    @Option(
        help: ArgumentHelp(
            "http://[user:password@]host:port, socks5://host:port or none; else from http_proxy, https_proxy, all_proxy, no_proxy.",
            valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("Trust the certificates of this PEM file, and no others.", valueName: "file"))
    var caFile: String?

    @Flag(help: "Trust any certificate.")
    var insecure = false

    @Flag(help: "Follow redirects from https to http.")
    var allowDowngrade = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata address.")
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
