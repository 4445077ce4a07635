import AsyncHTTPClient
import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import FerryServer

@Suite("Content of downloads", .timeLimit(.minutes(30)))
struct ContentTests {
    private func read(
        _ rig: DaemonRig, _ id: DownloadID, _ headers: [String: String] = [:], method: String = "GET"
    ) async throws -> DaemonRig.Reply {
        try await rig.send(method, Route.content.path(id: id.rawValue), headers: headers)
    }

    @Test("Content: a link opens one download's content over TCP without the token, and ends with the token")
    func links() async throws {
        try await DaemonRig.run { rig in
            let port = try #require(rig.addresses.port)
            let ids = [try await rig.add(rig.new("/file/4k")).id, try await rig.add(rig.new("/file/5k")).id]
            for id in ids { _ = try await rig.reach("completed", id) }
            let headers = ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"]
            let reply = try await rig.send(
                "POST", Route.contentLink.path(id: ids[0].rawValue), headers: headers, port: port)
            #expect(reply.status == 201)
            let path = try reply.shape(ContentLinkBody.self).path
            let saved = try await rig.send("GET", path, port: port)
            #expect(saved.status == 200)
            #expect(saved.data.count == 4000)
            #expect(saved.headers["content-disposition"]?.hasPrefix("attachment;") == true)
            // A browser requests the rest after a break.
            #expect(try await rig.send("GET", path, headers: ["Range": "bytes=5-"], port: port).status == 206)
            let code = try #require(path.split(separator: "?").last)
            let refused = [
                Route.content.path(id: ids[1].rawValue) + "?\(code)", Route.content.path(id: ids[0].rawValue),
                Route.content.path(id: ids[0].rawValue) + "?code=0", Route.show.path(id: ids[0].rawValue) + "?\(code)",
            ]
            for other in refused { #expect(try await rig.send("GET", other, port: port).status == 401, "\(other)") }
            let foreign = ["Origin": "http://example.com"]
            #expect(try await rig.send("GET", path, headers: foreign, port: port).status == 403)
            for item in try await rig.ask(.tokens).shape(TokenItems.self).items {
                _ = try await rig.ask(.withdraw, id: item.id)
            }
            #expect(try await rig.send("GET", path, port: port).status == 401)
        }
    }

    @Test("Content: no link leads to a completed file that was deleted or changed since")
    func linksToMissingFiles() async throws {
        try await DaemonRig.run { rig in
            let id = try await rig.add(rig.new("/file/4k")).id
            let path = try #require(try await rig.reach("completed", id).status.path)
            #expect(try await rig.ask(.contentLink, id: id.rawValue).status == 201)
            try Data("another".utf8).write(to: URL(fileURLWithPath: path))
            let changed = try await rig.ask(.contentLink, id: id.rawValue).problem
            #expect(changed?.code == "conflict")
            #expect(changed?.error?.message == "\(path) is no longer the file that was downloaded")
            try FileManager.default.removeItem(atPath: path)
            #expect(try await rig.ask(.contentLink, id: id.rawValue).problem?.code == "disk")
        }
    }

    @Test("Content: ranges of a file that is being fetched, its tag, and the fields that keep browsers from running it")
    func ranges() async throws {
        try await DaemonRig.run { rig in
            let gate = Gate()
            let resource = Resource(
                size: 20_000_000, contentDisposition: "attachment; filename=\"a b'é.html\"", contentType: "text/html")
            rig.origin.serve("/a", resource)
            rig.origin.script("/a", [.hold(after: 2_000_000, gate)])
            let id = try await rig.add(rig.new("/a") { $0.maxConnections = 1 }).id
            let end = try await read(rig, id, ["Range": "bytes=-1000"])
            #expect(end.status == 206)
            #expect(Array(end.data) == resource.bytes(19_999_000..<20_000_000))
            #expect(end.headers["content-range"] == "bytes 19999000-19999999/20000000")
            #expect(end.headers["content-length"] == "1000")
            #expect(end.headers["etag"] == resource.etag)
            #expect(end.headers["content-type"] == "application/octet-stream")
            #expect(end.headers["x-content-type-options"] == "nosniff")
            #expect(end.headers["content-security-policy"]?.hasPrefix("sandbox;") == true)
            #expect(end.headers["content-disposition"] == "attachment; filename*=UTF-8''a%20b%27%C3%A9.html")
            #expect(end.headers["cache-control"] == "no-store")
            let tag = try #require(resource.etag)
            #expect(try await read(rig, id, ["Range": "bytes=5-9", "If-Range": tag]).data.count == 5)
            let beyond = try await read(rig, id, ["Range": "bytes=20000000-"])
            #expect(beyond.status == 416)
            #expect(beyond.headers["content-range"] == "bytes */20000000")
            #expect(beyond.headers["content-type"] == Problem.mediaType)
            #expect(try JSONCoding.decode(Problem.self, from: Data(beyond.data)).code == "rangeNotSatisfiable")
            let head = try await read(rig, id, ["Range": "bytes=5-9"], method: "HEAD")
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == "20000000")
            #expect(head.headers["accept-ranges"] == "bytes")
            gate.open()
            let all = try await read(rig, id, ["Range": "bytes=5-9", "If-Range": "\"other\""])
            #expect(all.status == 200)
            #expect(Array(all.data) == resource.bytes(0..<20_000_000))
            // The end of the whole is sent when the download is complete.
            #expect(try await rig.ask(.show, id: id.rawValue).shape(DownloadDetail.self).download.status.state.isFinal)
            #expect(try await rig.send("POST", Route.content.path(id: id.rawValue)).status == 405)
        }
    }

    @Test("Content: a client that stops reading does not keep the daemon from ending")
    func stopsReading() async throws {
        // More than the buffers of a connection over loopback hold.
        let size: Int64 = 40_000_000
        let held = Mutex<Int32?>(nil)
        defer { if let descriptor = held.withLock({ $0 }) { close(descriptor) } }
        try await DaemonRig.run { rig in
            rig.origin.serve("/a", Resource(size: size))
            let id = try await rig.add(rig.new("/a")).id
            _ = try await rig.reach("completed", id)
            let path = Route.content.path(id: id.rawValue)
            let (port, token) = (try #require(rig.addresses.port), rig.token)
            let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n"
            let descriptor = try #require(await RawConnection.hold(request, port: port))
            held.withLock { $0 = descriptor }
        }
    }

    @Test("Content: over TCP it needs the token, and is of the own session only")
    func access() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a", Resource(size: 5000))
            let id = try await rig.add(rig.new("/a")).id
            let other = try await rig.add(rig.new("/a") { $0.onDuplicate = .addAnother }, session: "app").id
            let path = Route.content.path(id: id.rawValue)
            let token = ["Authorization": "Bearer \(rig.token)"]
            let port = rig.addresses.port
            #expect(try await rig.send("GET", path, port: port).status == 401)
            #expect(try await rig.send("GET", path, headers: ["Authorization": "Bearer x"], port: port).status == 401)
            #expect(try await rig.send("GET", path, headers: token, port: port).data.count == 5000)
            let foreign = token.merging(["Origin": "http://example.org"]) { $1 }
            #expect(try await rig.send("GET", path, headers: foreign, port: port).status == 403)
            let others = Route.content.path(id: other.rawValue)
            #expect(try await rig.send("GET", others, headers: token, port: port).status == 404)
            #expect(try await rig.send("GET", others).data.count == 5000)
        }
    }

    @Test("Content: a paused download, an unknown one, and more readers than allowed are refused at once")
    func refusals() async throws {
        try await DaemonRig.run({ $0.limits.mostReaders = 2 }) { rig in
            let gate = Gate()
            rig.origin.serve("/a", Resource(size: 4_000_000))
            rig.origin.script("/a", [.hold(after: 2_000_000, gate)], then: .hold(gate))
            let id = try await rig.add(rig.new("/a") { $0.maxConnections = 1 }).id
            #expect(try await read(rig, DownloadID(rawValue: "none")).status == 404)
            let readers = (0..<2).map { _ in
                Task { try await read(rig, id, ["Range": "bytes=3000000-3000009"]).data.count }
            }
            try await eventually { !rig.daemon.api.seats.hasRoom }
            let busy = try await read(rig, id, ["Range": "bytes=0-1"])
            #expect(busy.status == 503)
            #expect(busy.headers["retry-after"] == "1")
            for reader in readers { reader.cancel() }
            // The clients have gone: their readers end although no byte has come.
            try await eventually { rig.daemon.api.seats.hasRoom }
            #expect(try await read(rig, id, ["Range": "bytes=0-1"]).data.count == 2)
            #expect(try await rig.ask(.pause, id: id.rawValue).status == 200)
            let paused = try await read(rig, id)
            #expect(paused.status == 409)
            #expect(paused.problem?.code == "wrongState")
        }
    }

    @Test("Content: a response of the whole file ends before its last byte if the digest is wrong")
    func wrongDigest() async throws {
        try await DaemonRig.run { rig in
            let gate = Gate()
            rig.origin.serve("/a", Resource(size: 4_000_000))
            rig.origin.always("/a", .hold(after: 2_000_000, gate))
            let id = try await rig.add(
                rig.new("/a") { $0.checksum = "sha-256:" + String(repeating: "0", count: 64) }
            ).id
            let socket = rig.addresses.socket.replacing("/", with: "%2F")
            let url = "http+unix://\(socket)" + Route.content.path(id: id.rawValue)
            let response = try await rig.http.execute(HTTPClientRequest(url: url), timeout: .minutes(8))
            #expect(response.status == .ok)
            #expect(response.headers.first(name: "content-length") == "4000000")
            gate.open()
            var count = 0
            await #expect(throws: (any Error).self) {
                for try await piece in response.body { count += piece.readableBytes }
            }
            #expect(count < 4_000_000)
        }
    }

    @Test(
        "Content: only pictures, sound and video keep their media type",
        arguments: [
            ("video/mp4", "video/mp4"), ("Audio/MPEG; charset=x", "audio/mpeg"), ("image/svg+xml", nil),
            ("text/html", nil), ("application/javascript", nil), ("video/", nil), ("video/a\u{0}b", nil), (nil, nil),
        ] as [(String?, String?)])
    func mediaTypes(given: String?, sent: String?) {
        #expect(API.safeType(given) == sent ?? "application/octet-stream")
    }
}
