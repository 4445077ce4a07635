package import FerryCore

/// The line that `ferry serve --ready-fd` writes: the addresses of the daemon, or why it did not start.
package enum ReadyLine: Codable, Sendable, Hashable {
    case listening(Listening)
    case failed(DownloadError)

    package struct Listening: Codable, Sendable, Hashable {
        package var pid: Int
        /// The version of the program.
        package var version: String
        /// The path of the Unix socket.
        package var socket: String
        /// The port on loopback; `nil` when it is off.
        package var port: Int?
        /// The port of aria2's interface on loopback; `nil` when it is off.
        package var aria2Port: Int?
        /// The port of the gateway on loopback; `nil` when it is off.
        package var gatewayPort: Int?
        /// The port of the metrics on loopback; `nil` when it is off.
        package var metricsPort: Int?
        /// TCP addresses with port: `127.0.0.1:3377`, `[::1]:3377`.
        package var addresses: [String]

        package init(
            pid: Int, version: String, socket: String, port: Int?, aria2Port: Int? = nil, gatewayPort: Int? = nil,
            metricsPort: Int? = nil, addresses: [String]
        ) {
            self.pid = pid
            self.version = version
            self.socket = socket
            self.port = port
            self.aria2Port = aria2Port
            self.gatewayPort = gatewayPort
            self.metricsPort = metricsPort
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
