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
    /// Where the page is served on loopback; `nil` where that is off.
    package var port: Int?
    /// Where the daemon may write; `nil` where it is not confined.
    package var confinement: ConfinementBody?

    package init(
        api: Int = FerryAPI.version, minimum: Int = FerryAPI.minimumVersion, version: String, pid: Int, session: String,
        boot: String, port: Int? = nil, confinement: ConfinementBody? = nil
    ) {
        self.api = api
        self.minimum = minimum
        self.version = version
        self.pid = pid
        self.session = session
        self.boot = boot
        self.port = port
        self.confinement = confinement
    }
}

extension Greeting {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case api, minimum, version, pid, session, boot, port, confinement
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(api, forKey: .api)
        try members.encode(minimum, forKey: .minimum)
        try members.encode(version, forKey: .version)
        try members.encode(pid, forKey: .pid)
        try members.encode(session, forKey: .session)
        try members.encode(boot, forKey: .boot)
        try members.encode(port, forKey: .port)
        try members.encode(confinement, forKey: .confinement)
    }
}

/// What a confined daemon may change: files below these directories.
package struct ConfinementBody: Codable, Sendable, Hashable {
    /// What the kernel of this machine cannot take from it, and newer ones can.
    package enum Gap: String, Codable, Sendable, Hashable, CaseIterable {
        /// Files elsewhere may be cut short.
        case truncation
        /// Devices may be controlled by ioctl(2).
        case devices
        /// Other processes may be sent signals, and sockets without a path connected to.
        case signals
    }

    /// Absolute, without symbolic links.
    package var directories: [String]
    package var gaps: [Gap]

    package init(directories: [String], gaps: [Gap]) {
        self.directories = directories
        self.gaps = gaps
    }
}
