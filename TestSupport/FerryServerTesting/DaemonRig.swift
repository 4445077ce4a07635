package import AsyncHTTPClient
import Ferry
package import FerryAPI
package import FerryCore
package import FerryServer
package import FerryTesting
package import Foundation
import HTTPTypes
package import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// A daemon in this process, with its own directory and an origin to download from.
package struct DaemonRig: Sendable {
    package let origin: OriginServer
    package let directory: String
    package let daemon: Daemon
    package let addresses: Addresses
    package let log: LogBook
    package let http: HTTPClient
    /// The token for the API over TCP.
    package let token: String

    package var downloads: String { directory + "/downloads" }
    package var place: DaemonPaths { daemon.place }

    /// Runs a body with a daemon, and removes everything afterwards, also after an error.
    package static func run(
        settings: String? = nil, _ configure: @Sendable (inout Daemon.Options) -> Void = { _ in },
        _ body: @Sendable (DaemonRig) async throws -> Void
    ) async throws {
        // Short: the path of a socket has 107 bytes at most.
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        if let settings { try settings.write(toFile: directory + "/ferry.json", atomically: true, encoding: .utf8) }
        try await OriginServer.with { origin in
            try await serve(directory, origin, configure, body)
        }
    }

    package static func place(in directory: String) -> DaemonPaths {
        DaemonPaths(
            state: directory + "/state", socket: directory + "/run/s", settings: directory + "/ferry.json",
            downloads: directory + "/downloads")
    }

    /// Runs a daemon with an existing directory, and stops it after the body.
    package static func serve(
        _ directory: String, _ origin: OriginServer, _ configure: @Sendable (inout Daemon.Options) -> Void = { _ in },
        _ body: @Sendable (DaemonRig) async throws -> Void
    ) async throws {
        var options = Daemon.Options()
        options.flags[.port] = .whole(0)
        options.pollInterval = .milliseconds(20)
        // On a busy machine, every client may seem slow.
        options.limits.unknownHead = .hours(1)
        options.limits.knownHead = .hours(1)
        options.limits.body = .hours(1)
        options.codeLifetime = .seconds(3600)
        options.configure = {
            $0.minFreeBytes = 0
            // On a busy machine, every server may seem stalled.
            $0.stallTimeout = .seconds(9000)
            $0.transfer.connectTimeout = .seconds(9000)
            $0.watchesNetwork = false
        }
        configure(&options)
        let log = LogBook()
        var logger = Logger(label: "ferry") { _ in LogBook.Handler(book: log) }
        logger.logLevel = .trace
        let daemon = try Daemon(place(in: directory), options, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await daemon.run() }
            if let addresses = await daemon.listening() {
                // Shorter than the daemon waits for the next request of a connection (``RequestLimits``): a request that is
                // written while the daemon closes the connection fails.
                var configuration = HTTPClient.Configuration()
                configuration.connectionPool.idleTimeout = .seconds(5)
                // On a busy machine, a connection takes long. The time also includes waiting for a connection of the pool.
                configuration.timeout.connect = .hours(1)
                let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                let token = try await daemon.tokens.make(named: "tests", at: Date()).grant.token
                let rig = DaemonRig(
                    origin: origin, directory: directory, daemon: daemon, addresses: addresses, log: log, http: http,
                    token: token)
                let result: Result<Void, any Error>
                do { result = .success(try await body(rig)) } catch { result = .failure(error) }
                try await http.shutdown()
                await daemon.stop()
                try await group.waitForAll()
                try result.get()
            } else {
                try await group.waitForAll()
            }
        }
    }

    // MARK: Requests

    package struct Reply: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var data: Data

        package init(status: Int, headers: [String: String], data: Data) {
            self.status = status
            self.headers = headers
            self.data = data
        }

        package var text: String { String(decoding: data, as: UTF8.self) }
        package func shape<Shape: Decodable>(_ type: Shape.Type = Shape.self) throws -> Shape {
            try JSONCoding.decode(type, from: data)
        }
        package var problem: Problem? { try? JSONCoding.decode(Problem.self, from: data) }
    }

    /// Sends a request of the API through the Unix socket.
    package func ask(
        _ route: Route, id: String = "", session: String? = nil, query: String = "",
        body: (any Encodable & Sendable)? = nil
    ) async throws -> Reply {
        var headers: [String: String] = [:]
        if let session { headers[FerryAPI.sessionHeader] = session }
        if route.method != .get { headers["Content-Type"] = "application/json" }
        let path = route.path(id: id, session: id) + (query.isEmpty ? "" : "?" + query)
        return try await send(
            route.method.rawValue, path, headers: headers, body: try body.map { try JSONCoding.encode($0) })
    }

    /// Sends a request through the Unix socket or, with `port`, through TCP.
    package func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil, port: Int? = nil
    ) async throws -> Reply {
        let response = try await http.execute(
            request(method, path, headers, body, port), timeout: .minutes(8))
        var fields: [String: String] = [:]
        for field in response.headers { fields[field.name.lowercased()] = field.value }
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return Reply(status: Int(response.status.code), headers: fields, data: Data(bytes.readableBytesView))
    }

    private func request(
        _ method: String, _ path: String, _ headers: [String: String], _ body: Data?, _ port: Int?
    ) -> HTTPClientRequest {
        let socket = addresses.socket.replacing("/", by: "%2F")
        let base = port.map { "http://127.0.0.1:\($0)" } ?? "http+unix://\(socket)"
        var request = HTTPClientRequest(url: base + path)
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        return request
    }

    /// Opens the event stream, which ends when the body returns.
    package func follow(
        session: String? = nil, after: String? = nil, query: String = "",
        _ body: (inout EventStreamReader) async throws -> Void
    ) async throws {
        var headers: [String: String] = [:]
        if let session { headers[FerryAPI.sessionHeader] = session }
        if let after { headers["Last-Event-ID"] = after }
        let path = Route.events.path() + (query.isEmpty ? "" : "?" + query)
        let response = try await http.execute(request("GET", path, headers, nil, nil), timeout: .minutes(8))
        guard response.status == .ok, response.headers.first(name: "content-type") == ServerSentEvent.mediaType else {
            throw DownloadError(.internal, "no stream, but \(response.status) \(response.headers)")
        }
        var reader = EventStreamReader(bytes: response.body.makeAsyncIterator())
        try await body(&reader)
    }

    // MARK: Downloads

    /// Returns the URL of a path on the origin.
    package func url(_ path: String) -> String { origin.url(path) }

    /// Returns a request for the file at a path on the origin.
    package func new(_ path: String, _ change: (inout RawRequest) -> Void = { _ in }) -> RawRequest {
        var new = RawRequest(urls: [url(path)])
        change(&new)
        return new
    }

    package func add(_ new: RawRequest, session: String? = nil) async throws -> ListedDownload {
        let reply = try await ask(.add, session: session, body: new)
        guard reply.status == 201 || reply.status == 200 else {
            throw DownloadError(.internal, "not added, but \(reply.status) \(reply.text)")
        }
        return try reply.shape()
    }

    /// Waits until a download has this state or a final one.
    package func reach(_ state: String, _ id: DownloadID) async throws -> ListedDownload {
        guard let download = try await daemon.manager.download(id: id) else {
            throw DownloadError(.notFound, "not listed")
        }
        for await status in download.updates where status.state.kind.rawValue == state || status.state.isFinal { break }
        return try await ask(.show, id: id.rawValue).shape(DownloadDetail.self).download
    }
}

/// The events of a stream, in order.
package struct EventStreamReader {
    package var bytes: HTTPClientResponse.Body.AsyncIterator
    private var parser = EventStreamParser()
    private var waiting: [ServerSentEvent] = []

    package init(bytes: HTTPClientResponse.Body.AsyncIterator) { self.bytes = bytes }

    package var lastID: String? { parser.lastID }

    /// The next event of any kind; `nil` at the end.
    package mutating func next() async throws -> ServerSentEvent? {
        while waiting.isEmpty {
            guard let buffer = try await bytes.next(isolation: #isolation) else { return nil }
            waiting += try parser.feed(buffer.readableBytesView)
        }
        return waiting.removeFirst()
    }

    /// The next event that matches; fails at the end of the stream.
    package mutating func next<Value>(_ fits: (StreamEvent) -> Value?) async throws -> Value {
        while let sent = try await next() {
            if let event = try StreamEvent(sent), let value = fits(event) { return value }
        }
        throw DownloadError(.internal, "the stream ended")
    }

    /// Reads the events up to `upToDate`. Returns the snapshot and the final events among them.
    package mutating func catchUp() async throws -> (reset: StreamEvent.Snapshot?, ended: [EventBody]) {
        var reset: StreamEvent.Snapshot?
        var ended: [EventBody] = []
        while let sent = try await next(), let event = try StreamEvent(sent) {
            switch event {
            case .reset(let snapshot): reset = snapshot
            case .ended(let event): ended.append(event)
            case .upToDate: return (reset, ended)
            default: break
            }
        }
        throw DownloadError(.internal, "the stream ended")
    }
}

/// Everything that was logged.
package final class LogBook: Sendable {
    private struct State {
        package var lines: [String] = []
        package var waiting: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())
    package var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

    /// Returns once a line contains this text.
    package func wait(for text: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.lines.contains(where: { $0.contains(text) }) { return true }
                state.waiting.append((text, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func add(_ line: String) {
        let ready = state.withLock { state in
            state.lines.append(line)
            defer { state.waiting.removeAll { line.contains($0.text) } }
            return state.waiting.filter { line.contains($0.text) }
        }
        for one in ready { one.continuation.resume() }
    }

    package struct Handler: LogHandler {
        package let book: LogBook
        package var logLevel = Logger.Level.trace
        package var metadata: Logger.Metadata = [:]

        package init(book: LogBook) { self.book = book }

        package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        package func log(event: LogEvent) {
            book.add("\(event.level) \(event.message) \(event.metadata ?? [:])")
        }
    }
}
