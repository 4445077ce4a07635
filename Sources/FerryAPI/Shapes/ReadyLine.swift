package import FerryCore

/// The line that `ferry serve --ready-fd` writes: the addresses of the daemon, or the error that prevented its start.
package enum ReadyLine: Codable, Sendable, Hashable {
    case listening(Listening)
    case failed(DownloadError)

    package struct Listening: Sendable, Hashable {
        package var pid: Int
        /// The version of the program.
        package var version: String
        /// The path of the Unix socket.
        package var socket: String
        /// The port of the listener on loopback; `nil` if the listener is off.
        package var port: Int?
        /// The port of each further listener on loopback, by its name; in the line, the member for `gateway` is `gatewayPort`.
        package var doors: [String: Int]
        /// TCP addresses with port: `127.0.0.1:3377`, `[::1]:3377`.
        package var addresses: [String]

        package init(
            pid: Int, version: String, socket: String, port: Int?, doors: [String: Int] = [:], addresses: [String]
        ) {
            self.pid = pid
            self.version = version
            self.socket = socket
            self.port = port
            self.doors = doors
            self.addresses = addresses
        }
    }

    private enum CodingKeys: String, CodingKey { case error }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let error = try container.decodeIfPresent(DownloadError.self, forKey: .error) {
            self = .failed(error)
        } else {
            self = .listening(try Listening(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .listening(let listening): try listening.encode(to: encoder)
        case .failed(let error):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(error, forKey: .error)
        }
    }
}

extension ReadyLine.Listening: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        static let pid = Key(stringValue: "pid")
        static let version = Key(stringValue: "version")
        static let socket = Key(stringValue: "socket")
        static let port = Key(stringValue: "port")
        static let addresses = Key(stringValue: "addresses")
        private static let suffix = "Port"

        /// The member with the port of a listener.
        init(door: String) { stringValue = door + Self.suffix }

        /// The name of the listener whose port the member contains; `nil` for any other member.
        var door: String? { stringValue.dropping(suffix: Self.suffix).flatMap { $0.isEmpty ? nil : String($0) } }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var doors: [String: Int] = [:]
        for key in container.allKeys {
            if let door = key.door { doors[door] = try container.decodeIfPresent(Int.self, forKey: key) }
        }
        self.init(
            pid: try container.decode(Int.self, forKey: .pid),
            version: try container.decode(String.self, forKey: .version),
            socket: try container.decode(String.self, forKey: .socket),
            port: try container.decodeIfPresent(Int.self, forKey: .port), doors: doors,
            addresses: try container.decode([String].self, forKey: .addresses))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(pid, forKey: .pid)
        try container.encode(version, forKey: .version)
        try container.encode(socket, forKey: .socket)
        try container.encodeIfPresent(port, forKey: .port)
        for (name, port) in doors { try container.encode(port, forKey: Key(door: name)) }
        try container.encode(addresses, forKey: .addresses)
    }
}
