package import ArgumentParser

/// The options of a request.
package struct RequestOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("x", allowingJoined: true), .customLong("connections")],
        help: ArgumentHelp(
            "Maximum connections per file; the best number is determined automatically.", valueName: "n"))
    package var connections = 16

    @Option(
        help: ArgumentHelp(
            "Rate limit per second: 500K, 5M, 1MiB; for all files together, of ferry add for each.", valueName: "rate"))
    package var limitRate: String?

    @Option(help: ArgumentHelp("Maximum file size; larger files are refused.", valueName: "size"))
    package var maxSize: String?

    @Option(
        help: ArgumentHelp(
            "A request header, or a file with one header per line, which hides it from the process list.",
            valueName: "'K: V'|@FILE"))
    package var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Credentials for the server; without a URL: USER@HOST. Prompts for a missing password.",
            valueName: "user[:password]"))
    package var user: String?

    @Flag(help: "Read user and password from $NETRC or ~/.netrc.")
    package var netrc = false

    @Option(help: ArgumentHelp("The Referer header: the URL of the linking page.", valueName: "url"))
    package var referer: String?

    @Option(help: ArgumentHelp("Maximum number of redirects in a row.", valueName: "n"))
    package var maxRedirects = 20

    @Flag(help: "Follow redirects from https to http.")
    package var allowDowngrade = false

    @Flag(help: "Connect to public addresses only: no loopback, link-local, private or metadata addresses.")
    package var noPrivate = false

    package init() {}
}
