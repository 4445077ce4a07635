import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@Suite("The binary: serve", .timeLimit(.minutes(30))) struct ServeProcessTests {
    @Test("says when it listens and where, answers there, and leaves in order at SIGTERM")
    func ready() async throws {
        let place = try Workplace()
        let serve = try await ServeProcess.start(in: place)
        let listening = try #require(serve.listening)
        #expect(listening.pid == Int(serve.process.id))
        #expect(listening.socket == place.path("run/s"))
        let port = try #require(listening.port)
        #expect(listening.addresses.contains("127.0.0.1:\(port)"))
        #expect(listening.addresses.allSatisfy { $0.hasSuffix(":\(port)") })
        let greeting = try APICoding.decode(Greeting.self, from: try await serve.ask(.greeting))
        #expect(greeting.pid == listening.pid)
        #expect(greeting.version == listening.version)
        serve.process.signal(SIGTERM)
        let outcome = try await serve.process.outcome()
        #expect(outcome.code == 0, "\(outcome.error)")
        #expect(outcome.lines == ["http://127.0.0.1:\(port)/"])
        #expect(!FileManager.default.fileExists(atPath: listening.socket))
    }

    @Test("B9: a second one says on its descriptor and with its exit code that another runs; the first goes on")
    func second() async throws {
        let place = try Workplace()
        let first = try await ServeProcess.start(in: place)
        let second = try await ServeProcess.start(in: place)
        guard case .failed(let body) = second.line else {
            Issue.record("it listens")
            return
        }
        #expect(body.error.code == .conflict)
        #expect(body.error.message.contains("\(first.process.id)"))
        #expect(try await second.process.outcome().code == 9)
        _ = try await first.ask(.greeting)
        first.process.signal(SIGINT)
        #expect(try await first.process.outcome().code == 0)
    }

    @Test("a descriptor that is not open is said, and nothing is served")
    func closedDescriptor() async throws {
        let place = try Workplace()
        let outcome = try await FerryProcess.run(
            ["serve", "--port", "0", "--ready-fd", "93"], in: place,
            environment: ["FERRY_STATE_DIR": place.path("state"), "FERRY_SOCKET": place.path("run/s")])
        #expect(outcome.code == 2, "\(outcome.error)")
        #expect(outcome.error.contains("descriptor 93"))
        #expect(place.names == [])
    }

    @Test("a program that cannot be run after a download is refused at the start, whatever its words look like")
    func unusableProgram() async throws {
        let place = try Workplace()
        let outcome = try await FerryProcess.run(
            ["serve", "--port", "0", "--on-complete", "true done", "--on-complete", "-c"], in: place,
            environment: ["FERRY_STATE_DIR": place.path("state"), "FERRY_SOCKET": place.path("run/s")])
        #expect(outcome.code == 2, "\(outcome.error)")
        #expect(outcome.error.contains("onComplete: true done is no program that can be run"), "\(outcome.error)")
        let serve = try await ServeProcess.start(["--on-complete", "true", "--on-complete", "-c"], in: place)
        #expect(serve.listening != nil)
        serve.process.signal(SIGTERM)
        #expect(try await serve.process.outcome().code == 0)
    }

    @Test("killed with kill -9 in the middle, the next one goes on by itself with what was safe")
    func killed() async throws {
        let place = try Workplace()
        let resource = Resource(size: 80 << 20, seed: 3)
        try await OriginServer.with { server async throws -> Void in
            server.serve("/a.bin", resource)
            // More than is ever unsynced: the journal claims some of it by then.
            server.script("/a.bin", [.stall(after: 72 << 20)])
            let id = try await begin(server.url("/a.bin"), bytes: 70 << 20, in: place)
            server.always("/a.bin", .honest)
            let second = try await ServeProcess.start(in: place)
            let path = try await second.end(of: id)?.status.path
            #expect(path == place.path("downloads/a.bin"))
            let data = try await second.ask(.history, id: id.rawValue)
            let kinds = try APICoding.decode(EventItems.self, from: data).items.map(\.event.kind)
            let resumed = kinds.contains { kind in if case .resumed = kind { true } else { false } }
            #expect(resumed)
            second.process.signal(SIGTERM)
            let outcome = try await second.process.outcome()
            #expect(outcome.code == 0)
        }
        let comparison = resource.source.compare(file: place.path("downloads/a.bin"), size: resource.size)
        #expect(comparison == .equal)
    }

    /// A daemon that is killed once so much of a download is there.
    private func begin(_ url: String, bytes: Int64, in place: Workplace) async throws -> DownloadID {
        let first = try await ServeProcess.start(in: place)
        var new = NewDownload(urls: [url])
        new.maxConnections = 1
        let data = try await first.ask(.add, body: new)
        _ = try await first.follow { (event: StreamEvent) -> Bool? in
            guard case .progress(let batch) = event else { return nil }
            return batch.contains { $0.progress.completedBytes >= bytes } ? true : nil
        }
        first.process.signal(SIGKILL)
        _ = try await first.process.outcome()
        return try APICoding.decode(ListedDownload.self, from: data).id
    }
}
