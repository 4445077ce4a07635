import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import FerryServer

@Suite("RequestLimiter", .timeLimit(.minutes(30)))
struct RequestLimiterTests {
    private func port(_ rig: DaemonRig) throws -> Int { try #require(rig.addresses.port) }

    private func head(_ route: Route, _ rig: DaemonRig, length: Int?, token: Bool = true, agent: String = "x") throws
        -> String
    {
        var text = "\(route.method.rawValue) \(route.path(id: "x")) HTTP/1.1\r\nHost: 127.0.0.1:\(try port(rig))\r\n"
        text += "Content-Type: application/json\r\nUser-Agent: \(agent)\r\n"
        if token { text += "Authorization: Bearer \(rig.token)\r\n" }
        return text + (length.map { "Content-Length: \($0)" } ?? "Transfer-Encoding: chunked") + "\r\n\r\n"
    }

    private func problem(_ reply: RawConnection.Reply) throws -> Problem {
        #expect(reply.headers["content-type"] == Problem.mediaType)
        #expect(reply.headers["connection"] == "close")
        return try JSONCoding.decode(Problem.self, from: Data(reply.body.utf8))
    }

    @Test("RequestLimiter: a declared length over the route's limit is refused before any byte of the body")
    func declared() async throws {
        try await DaemonRig.run { rig in
            for route in Route.allCases where route.method != .get && !route.isLocalOnly {
                let text = try head(route, rig, length: route.mostBytes + 1)
                let reply = await RawConnection.send(text, port: try port(rig))
                // Routes with an identifier look up the download first.
                let expected = route.template.contains("{id}") ? [413, 404] : [413]
                #expect(expected.contains(reply.status ?? 0), "\(route) \(reply)")
                if reply.status == 413 { #expect(try problem(reply).code == "bodyTooLarge") }
            }
        }
    }

    @Test("RequestLimiter: a chunked body is read up to the limit of its route, and refused beyond")
    func chunked() async throws {
        try await DaemonRig.run { rig in
            let piece = String(repeating: " ", count: 1024)
            let chunk = "400\r\n\(piece)\r\n"
            let body = String(repeating: chunk, count: Route.login.mostBytes / 1024 + 1)
            let reply = await RawConnection.send(
                try head(.login, rig, length: nil, token: false) + body, port: try port(rig))
            #expect(reply.status == 413)
            #expect(try problem(reply).code == "bodyTooLarge")
        }
    }

    @Test("RequestLimiter: an unauthorised request is refused at its head, without its body, and closed")
    func refusedAtHead() async throws {
        try await DaemonRig.run { rig in
            let started = try head(.add, rig, length: 16 << 20, token: false) + "{"
            let reply = await RawConnection.send(started, port: try port(rig))
            #expect(reply.status == 401)
            #expect(try problem(reply).code == "unauthorized")
        }
    }

    @Test("RequestLimiter: bodies share a budget, small ones are served beside it, and it is returned")
    func budget() async throws {
        try await DaemonRig.run({ $0.limits.bodyBudget = 1 << 20 }) { rig in
            let half = String(repeating: " ", count: 600 << 10)
            var held: [Int32] = []
            let text = try head(.add, rig, length: 1 << 20) + half
            held.append(try #require(await RawConnection.begin(text, port: try port(rig))))
            // The first body is held when a second one of its size finds no budget.
            var reply = await RawConnection.send(text, port: try port(rig), isLast: true)
            while reply.status != 503 {
                #expect(reply.status == 400, "\(reply)")
                reply = await RawConnection.send(text, port: try port(rig), isLast: true)
            }
            #expect(try problem(reply).code == "busy")
            #expect(reply.headers["retry-after"] == "1")
            let small = try await rig.send(
                "POST", Route.plan.path(),
                headers: ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"],
                body: Data("{}".utf8), port: try port(rig))
            #expect(small.status == 400)
            // The Unix socket has a budget of its own.
            let large = try await rig.ask(.add, body: ["urls": [half]])
            #expect(large.status == 400, "\(large.status)")
            for descriptor in held { close(descriptor) }
            while rig.daemon.api.budgets.held > 0 { await Task.yield() }
        }
    }

    @Test("RequestLimiter: a body that does not arrive in time gets 408 and a closed connection")
    func slowBody() async throws {
        try await DaemonRig.run({ $0.limits.body = .milliseconds(50) }) { rig in
            for route in [Route.login, .add] {
                let text = try head(route, rig, length: 100, token: route == .add) + "{"
                let reply = await RawConnection.send(text, port: try port(rig))
                #expect(reply.status == 408, "\(reply)")
                #expect(try problem(reply).code == "timeout")
            }
            #expect(!rig.log.text.contains("a request failed"))
        }
    }

    @Test("RequestLimiter: a connection without a complete head in time is closed")
    func slowHead() async throws {
        try await DaemonRig.run({ $0.limits.unknownHead = .milliseconds(50) }) { rig in
            for text in ["", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "] {
                let reply = await RawConnection.send(text, port: try port(rig))
                #expect(reply.status == nil)
            }
        }
    }

    @Test("RequestLimiter: beyond the limit the oldest connection without a token is closed, none with a token")
    func unknown() async throws {
        try await DaemonRig.run({ $0.limits.mostUnknown = 2 }) { rig in
            let port = try port(rig)
            let known = "GET /api/v1 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(rig.token)\r\n\r\n"
            let holder = try #require(await RawConnection.hold(known, port: port))
            let oldest = try #require(
                await RawConnection.begin(try head(.login, rig, length: 100, token: false) + "{", port: port))
            while rig.daemon.api.connections.unknownCount < 1 { await Task.yield() }
            let page = "GET /mark.svg HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
            var others: [Int32] = []
            for _ in 0..<2 { others.append(try #require(await RawConnection.hold(page, port: port))) }
            let evicted = await RawConnection.finish(oldest)
            #expect(evicted.status == 429)
            #expect(try problem(evicted).code == "tooMany")
            #expect(rig.daemon.api.connections.unknownCount == 2)
            // The connection that has shown a token is used again.
            let again = known.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
            RawConnection.write(Array(again.utf8), holder)
            #expect(await RawConnection.finish(holder).status == 200)
            for descriptor in others { close(descriptor) }
        }
    }

    @Test("RequestLimiter: an event stream outlives every time limit of a request")
    func streams() async throws {
        try await DaemonRig.run {
            $0.limits.body = .seconds(2)
            $0.limits.knownHead = .seconds(2)
            $0.limits.unknownHead = .seconds(2)
        } _: { rig in
            try await rig.follow(query: "session=all") { events in
                _ = try await events.catchUp()
                // An idle connection is closed meanwhile: the limits have passed for the stream too.
                #expect(await RawConnection.send("", port: try port(rig)).status == nil)
                // Not by an HTTP request: its connection might be closing.
                var request = DownloadRequest(
                    sources: [try DownloadURL(rig.url("/file/1k"))], destination: .directory(rig.downloads))
                request.startsPaused = true
                let added = try await rig.daemon.manager.download(request)
                let seen = try await events.next { event in
                    if case .state(let download) = event, download.id == added.id { true } else { nil }
                }
                #expect(seen)
            }
        }
    }
}
