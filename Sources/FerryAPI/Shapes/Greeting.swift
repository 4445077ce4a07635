/// The response of `GET /api/v1`: supported versions and the identity of the daemon.
package struct Greeting: Codable, Sendable, Hashable {
    /// The API version.
    package var api: Int
    /// The oldest supported API version.
    package var minimum: Int
    /// The version of the program.
    package var version: String
    package var pid: Int
    /// The default session of requests on this connection.
    package var session: String
    /// The boot identifier, different after each start of the daemon; event numbers are unique within one boot.
    package var boot: String
    /// The port of the web page on loopback; `nil` if the page is off.
    package var port: Int?
    /// The directories that the daemon may write to; `nil` if it is not confined.
    package var confinement: ConfinementBody?
    /// The path to which this daemon moved a damaged catalogue when it started; `nil` if the catalogue was intact.
    package var damagedCatalogue: String?

    package init(
        api: Int = FerryAPI.version, minimum: Int = FerryAPI.minimumVersion, version: String, pid: Int, session: String,
        boot: String, port: Int? = nil, confinement: ConfinementBody? = nil, damagedCatalogue: String? = nil
    ) {
        self.api = api
        self.minimum = minimum
        self.version = version
        self.pid = pid
        self.session = session
        self.boot = boot
        self.port = port
        self.confinement = confinement
        self.damagedCatalogue = damagedCatalogue
    }
}

/// The confinement of the daemon: it may modify files only below these directories.
package struct ConfinementBody: Codable, Sendable, Hashable {
    /// A restriction that this machine's kernel does not support, although newer kernels do.
    package enum Gap: String, Codable, Sendable, Hashable, CaseIterable {
        /// Files in other directories may be truncated.
        case truncation
        /// Devices may be controlled with ioctl(2).
        case devices
        /// Signals to other processes and connections to abstract sockets are possible.
        case signals
    }

    /// Absolute paths without symbolic links.
    package var directories: [String]
    package var gaps: [Gap]

    package init(directories: [String], gaps: [Gap]) {
        self.directories = directories
        self.gaps = gaps
    }
}
