/// The first exchange: which versions the daemon speaks, and who it is.
package struct Greeting: Codable, Sendable, Hashable {
    /// The version of the API.
    package var api: Int
    /// The oldest version that it speaks.
    package var minimum: Int
    /// The version of the program.
    package var version: String
    package var pid: Int
    /// The session that this connection's requests are about, unless they say otherwise.
    package var session: String
    /// Names this life of the daemon: another one has another tag, and events of another count.
    package var boot: String

    package init(
        api: Int = FerryAPI.version, minimum: Int = FerryAPI.minimumVersion, version: String, pid: Int, session: String,
        boot: String
    ) {
        self.api = api
        self.minimum = minimum
        self.version = version
        self.pid = pid
        self.session = session
        self.boot = boot
    }
}
