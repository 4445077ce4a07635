/// What the daemon and its clients say to each other: the shapes, the routes, the events; and the client.
///
/// ```
/// client ── HTTP over the Unix socket, or TCP on loopback with a token ──► daemon
///        GET /api/v1                     versions, first of all
///        GET /api/v1/downloads …         JSON of Shapes/, by the table Routes/Route
///        GET /api/v1/events              server-sent events: Events/StreamEvent
/// ```
///
/// Keys are camelCase, sizes whole bytes, durations seconds, dates RFC 3339 in UTC with milliseconds. What is unknown is
/// `null` in answers, and may be left out in requests. A request with a member that is not known is refused; answers may
/// grow, so clients ignore what they do not know.
package enum FerryAPI {
    /// The version of the API; a client of another one is answered 426.
    package static let version = 1
    /// The oldest version that this daemon speaks.
    package static let minimumVersion = 1
    /// What all paths begin with.
    package static let root = "/api/v1"
    /// The port on loopback, unless another one is asked for.
    package static let defaultPort = 3377
    /// Says the version of the API, in every answer and in every request of a client that knows it.
    package static let versionHeader = "Ferry-Version"
    /// Names the session that a request is about.
    package static let sessionHeader = "Ferry-Session"
    /// Sent with `1` by clients that want ``HandleBody`` in answers.
    package static let handlesHeader = "Ferry-Handles"
    /// The session of the command line and the page.
    package static let defaultSession = "default"
    /// The value of `session=` that means every session.
    package static let everySession = "all"
    /// The most entries of one page of the list.
    package static let mostEntries = 1000
    /// The most downloads at a time, and the most connections to one server, that can be asked for; and the most
    /// downloads that one request removes.
    package static let mostAtOnce = 1000
    /// The most downloads of one addition.
    package static let mostAdded = 10_000
}
