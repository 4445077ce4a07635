import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryServer

/// A token over TCP is valid for the page's session alone: downloads of an app are neither visible nor changed, and
/// none can be added, so no event of theirs starts the app's launch command.
@Suite("API over TCP: one session", .timeLimit(.minutes(30)))
struct AccessSessionTests {
    private struct Client: Sendable {
        let rig: DaemonRig
        let port: Int

        init(_ rig: DaemonRig) throws {
            self.rig = rig
            port = try #require(rig.addresses.port)
        }

        func ask(
            _ route: Route, id: String = "", session: String? = nil, query: String = "",
            body: (any Encodable & Sendable)? = nil
        ) async throws -> DaemonRig.Reply {
            var headers = ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"]
            if let session { headers[FerryAPI.sessionHeader] = session }
            let path = route.path(id: id, session: id) + (query.isEmpty ? "" : "?" + query)
            return try await rig.send(
                route.method.rawValue, path, headers: headers, body: try body.map { try JSONCoding.encode($0) },
                port: port)
        }
    }

    @Test("API over TCP: no route accepts another session in the header, and nothing is added to it")
    func header() async throws {
        try await DaemonRig.run { rig in
            let client = try Client(rig)
            for route in Route.allCases where !route.isOpen {
                let reply = try await client.ask(route, id: "x", session: "app", body: rig.new("/file/1k"))
                #expect(reply.status == 403, "\(route) \(reply.text)")
            }
            #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
        }
    }

    @Test("API over TCP: the query reads no other session")
    func query() async throws {
        try await DaemonRig.run { rig in
            let client = try Client(rig)
            for route in [Route.list, .statistics, .events] {
                for session in ["app", "all"] {
                    let reply = try await client.ask(route, query: "session=\(session)")
                    #expect(reply.status == 403, "\(route) \(session)")
                }
            }
            #expect(try await client.ask(.list, query: "session=default").status == 200)
        }
    }

    @Test(
        "API over TCP: a download of another session is not found by its id, stays as it is, and launches nothing")
    func identifiers() async throws {
        try await DaemonRig.run { rig in
            let client = try Client(rig)
            let mark = rig.directory + "/launched"
            let registration = SessionRegistration(
                identifier: "app", directory: rig.directory + "/app", launchCommand: ["/usr/bin/touch", mark])
            _ = try await rig.ask(.attach, body: registration)
            let listed = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }, session: "app")
            let id = listed.id.rawValue
            let label: JSONValue = ["label": "mine"]
            let bodies: [Route: any Encodable & Sendable] = [
                .change: label, .move: ListPlacement.first, .removeMany: RemovalBody([id], deleteFiles: true),
                .pauseMany: SelectionBody(ids: [id]), .resumeMany: SelectionBody(ids: [id]),
                .cancelMany: SelectionBody(ids: [id]), .restartMany: SelectionBody(ids: [id]),
                .changeMany: ChangeBody([id], change: RequestChange()), .moveMany: MoveBody([id], to: .first),
            ]
            for route in Route.allCases where route.template.contains("{id}") && !route.isLocalOnly {
                let reply = try await client.ask(route, id: id, body: bodies[route])
                #expect(reply.status == 404, "\(route) \(reply.text)")
            }
            #expect(try await client.ask(.find, body: SelectionBody(ids: [id])).shape(DownloadItems.self).items == [])
            for route in [Route.find, .cancelMany] {
                #expect(try await client.ask(route, body: SelectionBody(words: [id])).status == 404, "\(route)")
            }
            for route in [
                Route.pauseMany, .resumeMany, .cancelMany, .restartMany, .removeMany, .changeMany, .moveMany,
            ] {
                let count = try await client.ask(route, body: bodies[route]).shape(ActionCount.self)
                #expect(count.changed == 0, "\(route)")
                #expect(count.failures?.map(\.error.code) == [.notFound], "\(route)")
            }
            let own = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id
            for place in [ListPlacement.before(listed.id), .after(listed.id), .before(DownloadID(rawValue: "none"))] {
                for reply in [
                    try await client.ask(.move, id: own.rawValue, body: place),
                    try await client.ask(.moveMany, body: MoveBody([own.rawValue], to: place)),
                    try await client.ask(.moveMany, body: MoveBody(words: [own.rawValue], to: place)),
                ] { #expect(reply.status == 404 && reply.problem?.code == "notFound", "\(place) \(reply.text)") }
            }
            #expect(try await rig.ask(.remove, id: own.rawValue).status == 204)
            _ = try await client.ask(.clear, body: ClearBody(.all))
            let now = try await rig.ask(.show, id: id).shape(DownloadDetail.self).download
            #expect(now.status.state == .paused)
            #expect(now.label == listed.label)
            #expect(try await client.ask(.list).shape(DownloadPage.self).total == 0)
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }
}
