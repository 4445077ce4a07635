import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Clients of the gateway in a soak: several at once ask for the same files, whole and in part, and some go away in the
/// middle. Each byte that they get of a file that its server has rightly is compared.
struct SoakGateway: Sendable {
    /// A file, and the gateway's link to it.
    struct Link: Sendable, Hashable {
        var kind: SoakCached
        var file: SoakFile
        var path: String
    }

    /// What clients got.
    struct Counts: Sendable {
        var requests = 0
        var whole = 0
        /// Parts of files, by a range.
        var parts = 0
        var refused = 0
        /// Responses that the client has left in the middle.
        var left = 0
        /// Requests that a kill of the daemon has ended.
        var killed = 0
        var bytes: Int64 = 0

        static func += (counts: inout Counts, other: Counts) {
            counts.requests += other.requests
            counts.whole += other.whole
            counts.parts += other.parts
            counts.refused += other.refused
            counts.left += other.left
            counts.killed += other.killed
            counts.bytes += other.bytes
        }
    }

    /// What became of one request.
    private enum Reply: Sendable, Hashable {
        case whole
        case part
        case left
        case status(Int)
        case brokenOff
    }

    /// How a client asks for a file.
    private enum Way: Sendable, Hashable {
        case whole
        case range(Range<Int64>)
        case leaving(after: Int64)
    }

    private static let clients = 6
    private static let rereads = 3

    let serve: ServeProcess
    let server: OriginServer

    // MARK: The round

    /// Serves a page of the index with one file of each kind.
    static func publish(_ number: Int, on server: OriginServer) -> (page: String, files: [(SoakCached, SoakFile)]) {
        let files = SoakCached.allCases.enumerated().map { ($1, $1.file(number + $0, on: server)) }
        let text = files.map { $0.link(to: $1) }.joined()
        server.serve("/simple/soak-\(number)/", Resource(text: text, contentType: "text/html"))
        return ("/gw/pypi/simple/soak-\(number)/", files)
    }

    /// Reads a page. Returns the gateway's links in the order of the files.
    func links(_ page: String, _ files: [(SoakCached, SoakFile)]) async throws -> [Link] {
        let response = try await serve.http.execute(try request(page), timeout: .minutes(8))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let paths = text.matches(of: /href="([^"#]*)/).map { String($0.1) }
        try #require(paths.count == files.count, "\(response.status): \(text)")
        return zip(files, paths).map { Link(kind: $0.0, file: $0.1, path: $1) }
    }

    /// Lets several clients ask for the links at once, each in its own order, and for some of earlier rounds.
    ///
    /// - Parameter isKilled: Whether the daemon may be killed meanwhile.
    func visit(_ links: [Link], _ earlier: [Link], seed: UInt64, isKilled: Bool) async -> Counts {
        await withTaskGroup(of: Counts.self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(client))
                    var counts = Counts()
                    let again = earlier.shuffled(using: &random).prefix(Self.rereads)
                    for link in (links + again).shuffled(using: &random) {
                        // Without a daemon each further request would only wait for one.
                        let (way, killed) = (Self.way(link, &random), counts.killed)
                        await self.ask(for: link, way, isKilled: isKilled, &counts)
                        if counts.killed > killed { break }
                    }
                    return counts
                }
            }
            return await group.reduce(into: Counts()) { $0 += $1 }
        }
    }

    /// Asks for each link once, and expects its end.
    func check(_ links: [Link]) async -> Counts {
        var counts = Counts()
        for link in links { await ask(for: link, .whole, isKilled: false, &counts) }
        return counts
    }

    private static func way(_ link: Link, _ random: inout SeededGenerator) -> Way {
        guard link.kind.end == .whole else { return .whole }
        let size = link.file.size
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .leaving(after: Int64.random(in: 0..<size / 2, using: &random))
        case 1:
            let start = Int64.random(in: 0..<size, using: &random)
            return .range(start..<Int64.random(in: start + 1...size, using: &random))
        default: return .whole
        }
    }

    private func ask(for link: Link, _ way: Way, isKilled: Bool, _ counts: inout Counts) async {
        counts.requests += 1
        let reply: Reply
        do { reply = try await self.reply(to: link, way, &counts.bytes) } catch {
            // No connection: only without a daemon.
            #expect(isKilled, "\(link): \(error)")
            counts.killed += 1
            return
        }
        let isExpected: Bool
        switch reply {
        case .whole: isExpected = link.kind.end == .whole || link.kind.end == .wholeOr(503)
        case .part, .left: isExpected = true
        case .status(let status):
            switch link.kind.end {
            case .whole: isExpected = false
            case .wholeOr(let other), .status(let other): isExpected = status == other
            case .refused: isExpected = status == 502
            }
        case .brokenOff: isExpected = link.kind.end == .refused
        }
        switch reply {
        case .whole: counts.whole += 1
        case .part: counts.parts += 1
        case .left: counts.left += 1
        case .brokenOff where !isExpected && isKilled: counts.killed += 1
        case .status, .brokenOff: counts.refused += 1
        }
        // Whatever happens to the daemon, a whole file is never a wrong one.
        #expect(isExpected || isKilled && reply != .whole, "\(link) \(way): \(reply)")
    }

    /// Sends a request and reads the response. Throws if there is none.
    private func reply(to link: Link, _ way: Way, _ received: inout Int64) async throws -> Reply {
        var request = try request(link.path)
        var range = 0..<link.file.size
        if case .range(let asked) = way {
            range = asked
            request.headers.add(name: "Range", value: "bytes=\(asked.lowerBound)-\(asked.upperBound - 1)")
        }
        let response = try await serve.http.execute(request, timeout: .minutes(8))
        let status = Int(response.status.code)
        guard status == 200 || status == 206 else {
            received += Int64(try await response.body.collect(upTo: 1 << 20).readableBytes)
            return .status(status)
        }
        // While the size is not known, the whole is the response to a range.
        let isPart = status == 206
        if !isPart { range = 0..<link.file.size }
        let bytes = DeterministicBytes(seed: link.file.seed)
        var offset = range.lowerBound
        var isRight = true
        do {
            for try await buffer in response.body {
                received += Int64(buffer.readableBytes)
                isRight = isRight && bytes.agree(buffer, at: offset)
                offset += Int64(buffer.readableBytes)
                // The iterator ends with the loop, and the connection with it.
                if case .leaving(let most) = way, offset > most { return .left }
            }
        } catch {
            #expect(isRight || link.kind.end == .refused, "\(link) \(way): wrong bytes before \(offset)")
            return .brokenOff
        }
        #expect(isRight && offset == range.upperBound, "\(link) \(way): wrong bytes, or \(offset) of \(range)")
        return isPart ? .part : .whole
    }

    private func request(_ path: String) throws -> HTTPClientRequest {
        let port = try #require(serve.listening?.doors["gateway"])
        return HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    }

    // MARK: The cache

    /// Waits until no file is being fetched, and the cache has no more than it keeps.
    func settle() async throws {
        try await eventually(every: SoakClient.interval) {
            let items = try JSONCoding.decode(GatewayItems.self, from: try await serve.ask(.gatewayFiles)).items
            let isQuiet = items.allSatisfy { ["completed", "failed"].contains($0.state) && !$0.isInUse }
            return isQuiet && items.map(\.bytes).reduce(0, +) <= SoakCached.cacheSize
        }
    }

    /// Expects that every file in the cache that has a digest still has it.
    func verify() async throws {
        let report = try JSONCoding.decode(VerifyReport.self, from: try await serve.ask(.verifyGateway))
        #expect(report.damaged.isEmpty, "\(report)")
    }

    /// The sum of the values of a metric.
    func metric(_ name: String) async throws -> Int {
        let socket = try #require(serve.listening).socket.replacing("/", with: "%2F")
        let request = HTTPClientRequest(url: "http+unix://\(socket)/metrics")
        let response = try await serve.http.execute(request, timeout: .minutes(8))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let values = text.split(separator: "\n").compactMap { line -> Double? in
            guard line.hasPrefix(name + "{") || line.hasPrefix(name + " ") else { return nil }
            return line.split(separator: " ").last.flatMap { Double($0) }
        }
        return Int(values.reduce(0, +))
    }
}

extension DeterministicBytes {
    /// Whether the bytes of a buffer are those from an offset on.
    fileprivate func agree(_ buffer: ByteBuffer, at offset: Int64) -> Bool {
        let expected = bytes(offset..<offset + Int64(buffer.readableBytes))
        return buffer.withUnsafeReadableBytes { received in
            expected.withUnsafeBytes { expected in
                guard let left = received.baseAddress, let right = expected.baseAddress else { return received.isEmpty }
                return memcmp(left, right, received.count) == 0
            }
        }
    }
}
