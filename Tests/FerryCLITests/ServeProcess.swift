import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

/// The daemon as a process of its own, identified by the line that it writes when it listens.
struct ServeProcess: Sendable {
    let process: FerryProcess
    let line: ReadyLine
    /// The client for its API.
    var http = HTTPClient.shared

    /// Starts the daemon on the state in `place`, and waits for its line.
    static func start(
        _ arguments: [String] = [], in place: Workplace, environment: [String: String] = [:],
        error: FerryProcess.Stream = .captured, limit: Double = 500
    ) async throws -> ServeProcess {
        let pipe = place.path("ready-\(UUID().uuidString.prefix(8))")
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        let process = try FerryProcess(
            ["serve", "--port", "0", "--ready-fd", "7", "-d", place.path("downloads")] + arguments, in: place,
            environment: self.environment(place).merging(environment) { $1 }, error: error,
            shell: "exec \"$@\" 7>'\(pipe)'", limit: limit)
        let data = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            DispatchQueue.global().async {
                // To the end of the pipe: no other process holds the writing side.
                continuation.resume(
                    with: Result { try FileHandle(forReadingFrom: URL(filePath: pipe)).readToEnd() ?? Data() })
            }
        }
        #expect(data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count == 2)
        #expect(data.last == UInt8(ascii: "\n"))
        return ServeProcess(process: process, line: try JSONCoding.decode(ReadyLine.self, from: data))
    }

    /// The variables that a daemon on `place` and its commands share.
    static func environment(_ place: Workplace) -> [String: String] {
        [
            "FERRY_STATE_DIR": place.path("state"), "FERRY_SOCKET": place.path("run/s"),
            "FERRY_CONFIG": place.path("config/ferry.json"),
        ]
    }

    var listening: ReadyLine.Listening? { if case .listening(let listening) = line { listening } else { nil } }

    /// Ends the daemon with SIGTERM, and expects success.
    func stop() async throws {
        process.signal(SIGTERM)
        let outcome = try await process.outcome()
        #expect(outcome.code == 0, "\(outcome.error)")
    }

    /// Sends a request through its socket, and expects success.
    func ask(_ route: Route, id: String = "", body: (any Encodable & Sendable)? = nil) async throws -> Data {
        let (status, data) = try await send(route, id: id, body: body)
        #expect((200..<300).contains(status), "\(status): \(String(decoding: data, as: UTF8.self))")
        return data
    }

    /// Sends a request through its socket.
    func send(
        _ route: Route, id: String = "", body: (any Encodable & Sendable)? = nil
    ) async throws -> (status: Int, data: Data) {
        let response = try await http.execute(
            try request(route, id: id, body: body), timeout: .minutes(8))
        let data = Data(try await response.body.collect(upTo: 64 << 20).readableBytesView)
        return (Int(response.status.code), data)
    }

    private func request(
        _ route: Route, id: String = "", body: (any Encodable & Sendable)? = nil
    ) throws -> HTTPClientRequest {
        let socket = try #require(listening).socket.replacing("/", with: "%2F")
        var request = HTTPClientRequest(url: "http+unix://\(socket)" + route.path(id: id))
        request.method = .RAW(value: route.method.rawValue)
        request.headers.add(name: "Content-Type", value: "application/json")
        if let body { request.body = .bytes(ByteBuffer(bytes: try JSONCoding.encode(body))) }
        return request
    }

    /// Reads the event stream until an event matches.
    func follow<Value: Sendable>(_ fits: (StreamEvent) -> Value?) async throws -> Value? {
        let response = try await http.execute(try request(.events), timeout: .minutes(8))
        var parser = EventStreamParser()
        for try await buffer in response.body {
            for sent in try parser.feed(buffer.readableBytesView) {
                if let event = try StreamEvent(sent), let value = fits(event) { return value }
            }
        }
        return nil
    }

    /// A download, once it has ended.
    func end(of id: DownloadID) async throws -> ListedDownload? {
        try await follow { (event: StreamEvent) -> ListedDownload? in
            switch event {
            case .state(let download): download.id == id && download.status.state.isFinal ? download : nil
            case .reset(let snapshot): snapshot.items.first { $0.id == id && $0.status.state.isFinal }
            default: nil
            }
        }
    }
}
