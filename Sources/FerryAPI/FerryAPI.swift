/// The protocol between the daemon and its clients (JSON objects, routes and events), and the client.
///
/// ```
/// client ── HTTP over the Unix socket, or TCP on loopback with a token ──► daemon
///        GET /api/v1                     versions of the daemon
///        GET /api/v1/downloads …         JSON of Shapes/, by the table Routes/Route
///        GET /api/v1/events              server-sent events: Events/StreamEvent
/// ```
///
/// Keys are camelCase, sizes are in whole bytes, durations in seconds, dates in RFC 3339 format in UTC with milliseconds. The
/// value of an absent member is unknown. A request with an unknown member is refused; responses may get new members, so clients
/// ignore unknown members.
package enum FerryAPI {
    /// The API version; clients with an incompatible version receive 426. Since version 2, an event follows the state that it
    /// led to, and every version of a download has a position in the log of updates.
    package static let version = 2
    /// The oldest API version that this daemon supports.
    package static let minimumVersion = 2
    /// The common prefix of all paths.
    package static let root = "/api/v1"
    /// The default TCP port on loopback.
    package static let defaultPort = 3377
    /// The header field with the API version, in every response and in every request of a client that knows it.
    package static let versionHeader = "Ferry-Version"
    /// The header field with the session that a request applies to.
    package static let sessionHeader = "Ferry-Session"
    /// The header field that clients send with the value `1` to receive ``HandleBody`` in responses.
    package static let handlesHeader = "Ferry-Handles"
    /// The header field with the boot identifier of the daemon, in responses with the content of a download, for clients that
    /// receive ``HandleBody``.
    package static let bootHeader = "Ferry-Boot"
    /// The session of the command line and the web page.
    package static let defaultSession = "default"
    /// The value of `session=` for all sessions.
    package static let everySession = "all"
    /// The session of the gateway's files. The name of such a file is a key; its label is the name to show.
    package static let gatewaySession = "gateway"
    /// The session of the files of sets.
    package static let setsSession = "sets"
    /// The maximum number of entries in a snapshot, and in one read by the daemon.
    package static let mostEntries = 1000
    /// The maximum number of parallel downloads, and of connections per host.
    package static let mostAtOnce = 1000
    /// The maximum number of downloads in one addition.
    package static let mostAdded = 10_000
}
