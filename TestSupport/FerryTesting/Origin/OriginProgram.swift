import Foundation
import NIOCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The executable's server, with its signals and shutdown.
public enum OriginProgram {
    /// An invalid command line.
    public struct UsageError: Error, Sendable {
        /// One line for the user.
        public let message: String
    }

    /// The URL syntax, for `--help`.
    public static var help: String { FileRoutes.help }

    /// The validated command line.
    public struct Options: Sendable {
        var configuration = OriginServer.Configuration()
        var watchesInput: Bool

        /// Parses the command line's values.
        public init(
            port: Int, addresses: [String], certificate: String?, rate: String?, connectionRate: String?,
            maxConnections: Int?, excess: String, isSingle: Bool, latencyMilliseconds: Int?, watchesInput: Bool
        ) throws(UsageError) {
            configuration.port = port
            if !addresses.isEmpty { configuration.addresses = addresses }
            if let certificate {
                guard let known = Certificate(rawValue: certificate) else {
                    throw UsageError(message: "no such certificate: \(certificate)")
                }
                configuration.certificate = known
            }
            configuration.serverRate = try Self.size(rate)
            configuration.connectionRate = try Self.size(connectionRate)
            if let maxConnections {
                configuration.limit = ConnectionLimit(maxConnections, try Self.excess(excess))
            }
            if isSingle {
                configuration.limit = ConnectionLimit(1, .wait)
                configuration.keepsAlive = false
            }
            configuration.latency = latencyMilliseconds.map { .milliseconds($0) }
            self.watchesInput = watchesInput
        }

        private static func size(_ text: String?) throws(UsageError) -> Int64? {
            guard let text else { return nil }
            guard let size = ByteSize.parse(text), size > 0 else { throw UsageError(message: "not a rate: \(text)") }
            return size
        }

        private static func excess(_ text: String) throws(UsageError) -> ConnectionLimit.Excess {
            switch text {
            case "wait": return .wait
            case "hang": return .hang
            case "close": return .close
            case "reset": return .reset
            case "refuse": return .refuse
            case "json": return .document(type: "application/json", text: #"{"error":"busy"}"#)
            case "empty": return .document(type: "application/octet-stream", text: "")
            case "unsatisfied": return .unsatisfied
            default:
                let parts = text.split(separator: ",", maxSplits: 1).map(String.init)
                guard let status = parts.first.flatMap({ Int($0) }), (400...599).contains(status) else {
                    throw UsageError(message: "not an excess: \(text)")
                }
                return .status(status, retryAfter: parts.count == 2 ? parts[1] : nil)
            }
        }
    }

    /// Serves until a signal, or until standard input is closed if that is watched.
    public static func serve(_ options: Options) async throws {
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { stop.yield() }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        let server: OriginServer
        do {
            server = try await OriginServer.start(options.configuration)
        } catch let error as IOError {
            throw UsageError(message: "cannot listen on port \(options.configuration.port): \(error)")
        }
        server.route("/stats") { [weak server] _ in
            server.map { .page(200, $0.statistics, contentType: "application/json") }
        }
        server.route("/requests") { [weak server] _ in
            server.map { .page(200, $0.requestLog, contentType: "application/json") }
        }
        FileHandle.standardOutput.write(Data("\(server.url(""))\n".utf8))
        if options.watchesInput {
            let thread = Thread {
                var byte: UInt8 = 0
                while true {
                    let count = read(0, &byte, 1)
                    if count > 0 || (count < 0 && errno == EINTR) { continue }
                    stop.yield()
                    return
                }
            }
            thread.start()
        }
        for await _ in stops { break }
        await server.shutdown()
    }
}

extension OriginServer {
    /// The counters as one line of JSON.
    var statistics: String {
        let traffic = traffic
        return """
            {"requests":\(traffic.requestCount),"bodyBytes":\(traffic.bodyBytes),\
            "acceptedConnections":\(traffic.acceptedConnections),"openConnections":\(traffic.openConnections),\
            "peakConnections":\(traffic.peakConnections),"peakRequests":\(traffic.peakRequests)}\n
            """
    }
}
