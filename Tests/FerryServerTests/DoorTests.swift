import Ferry
import FerryAPI
import FerryCore
import FerryMetrics
import FerryServerTesting
import FerryTesting
import Foundation
import HummingbirdCore
import NIOCore
import Testing

@testable import FerryServer

@Suite("Doors", .timeLimit(.minutes(30))) struct DoorTests {
    /// A door that answers each request with the port, and keeps the events that it hears.
    private final class Echo: Door {
        let name = "echo"
        let port: Int
        let option = "--echo-port"
        let bound = Guarded<Int?>(nil)
        let events = Guarded<[DownloadID]>([])
        let told = AsyncEvent()
        let begun = AsyncEvent()
        static let metric = Metric.gauge("ferry_echo_answers", help: "Answers")

        init(port: Int = 0) { self.port = port }

        func listens(on port: Int) { bound.value = port }

        func respond(to request: Request, on channel: any Channel) async -> Response {
            Answer.body(Data("\(bound.value ?? 0)".utf8), type: "text/plain")
        }

        func heard(_ event: DownloadEvent) {
            guard case .completed = event.kind else { return }
            events.value.append(event.id)
            told.notify()
        }

        func answer(_ call: DoorCall) async throws -> any Encodable & Sendable {
            if call.route == .gateway { return ["port": port] }
            return try await call.body([String: Int].self)
        }

        func run() async { begun.notify() }

        func families() async -> [MetricFamily] { [MetricFamily(Self.metric, 7)] }

        func announcement(port: Int, showsSecret: Bool) -> String { "echo \(port)" }
    }

    @Test("Door: it responds to its routes of the API; without it they fail as its kind says, or are unknown")
    func routes() async throws {
        let absence = DownloadError(.notFound, "no echo")
        let routes = DoorRoutes([.gateway, .purgeGateway], without: absence)
        try await DaemonRig.run { options in
            options.doors = [DoorKind(routes: routes) { _ throws(DownloadError) in Echo() }]
        } _: { rig async throws in
            #expect(try await rig.ask(.gateway).text == #"{"port":0}"#)
            #expect(try await rig.ask(.purgeGateway, body: ["a": 1]).text == #"{"a":1}"#)
            #expect(try await rig.ask(.purgeGateway, body: ["a": "b"]).problem?.code == "badRequest")
            #expect(try await rig.ask(.gatewayFiles).problem?.code == "noSuchPath")
        }
        try await DaemonRig.run { options in
            options.doors = [DoorKind(routes: routes) { _ throws(DownloadError) in nil }]
        } _: { rig async throws in
            #expect(try await rig.ask(.gateway).problem?.detail == "no echo")
        }
        try await DaemonRig.run { rig async throws in
            #expect(try await rig.ask(.gateway).problem?.code == "noSuchPath")
        }
    }

    @Test("Door: it answers on a port of its own, knows it, and its responses have the fields of all")
    func answers() async throws {
        let echo = Echo()
        try await DaemonRig.run { options in
            options.doors = [DoorKind { _ throws(DownloadError) in echo }]
        } _: { rig in
            let port = try #require(rig.addresses.doors["echo"])
            #expect(rig.addresses.doors.count == 1 && port != rig.addresses.port)
            let reply = try await rig.send("GET", "/", port: port)
            #expect(reply.status == 200 && reply.text == "\(port)")
            #expect(reply.headers["x-content-type-options"] == "nosniff" && reply.headers["date"] != nil)
            #expect(reply.headers["cache-control"] == "no-store")
        }
    }

    @Test("Door: it hears what happens to the downloads of the default session, and of no other")
    func hears() async throws {
        let echo = Echo()
        try await DaemonRig.run { options in
            options.doors = [DoorKind { _ throws(DownloadError) in echo }]
        } _: { rig in
            let other = try await rig.add(rig.new("/file/1000"), session: "app")
            _ = try await rig.reach("completed", other.id)
            let own = try await rig.add(rig.new("/file/2000"))
            _ = try await rig.reach("completed", own.id)
            await echo.told.wait(after: 0)
            #expect(echo.events.value == [own.id])
        }
    }

    @Test("Door: it hears its own session alone")
    func session() async throws {
        let echo = Echo()
        try await DaemonRig.run { options in
            options.doors = [DoorKind(session: "echo") { _ throws(DownloadError) in echo }]
        } _: { rig in
            let other = try await rig.add(rig.new("/file/1000"))
            _ = try await rig.reach("completed", other.id)
            let own = try await rig.add(rig.new("/file/2000"), session: "echo")
            _ = try await rig.reach("completed", own.id)
            await echo.told.wait(after: 0)
            #expect(echo.events.value == [own.id])
        }
    }

    @Test("Door: it works in the background, and the daemon's metrics have its families")
    func background() async throws {
        let echo = Echo()
        try await DaemonRig.run { options in
            options.doors = [DoorKind(metrics: [Echo.metric]) { _ throws(DownloadError) in echo }]
        } _: { rig in
            await echo.begun.wait(after: 0)
            let text = try await rig.send("GET", "/metrics").text
            #expect(text.contains("\nferry_echo_answers 7\n"), "\(text)")
        }
    }

    @Test("DoorKind: without settings for it there is no door; with an error of its settings no daemon")
    func made() async throws {
        try await DaemonRig.run { options in
            options.doors = [DoorKind(metrics: [Echo.metric]) { _ throws(DownloadError) in nil }]
        } _: { rig in
            #expect(rig.addresses.doors.isEmpty)
            let text = try await rig.send("GET", "/metrics").text
            #expect(text.contains("\n# TYPE ferry_echo_answers gauge\n") && !text.contains("\nferry_echo_answers "))
        }
        await #expect(throws: DownloadError.self) {
            try await DaemonRig.run { options in
                options.doors = [
                    DoorKind { _ throws(DownloadError) in throw DownloadError(.disk, ErrorPhrase(.noSuchDoor, "a")) }
                ]
            } _: { _ in
            }
        }
    }

    @Test("Daemon: an option for a door which the program does not have is an error that names its setting")
    func missing() async throws {
        do {
            try await DaemonRig.run { options in
                options.flags.set(.port("aria2Rpc"), to: 0)
            } _: { _ in
            }
            Issue.record("the daemon has started")
        } catch let error as DownloadError {
            #expect(error.code == .invalidRequest && error.message.contains("aria2Rpc"), "\(error)")
        }
    }
}
