import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// What the model of the system promises, by the rules that Apple documents.
@Suite("ScriptedSystem")
struct ScriptedSystemTests {
    private let disk = ModelDisk(DiskImage(directories: ["/h"]))
    private let system: ScriptedSystem
    private let seen = Seen()

    /// The events that a handler has received.
    private final class Seen: Sendable {
        private let texts = Mutex<[String]>([])
        private let paths = Mutex<[FilePath]>([])
        var events: [String] { texts.withLock { $0 } }
        var files: [FilePath] { paths.withLock { $0 } }

        func take(_ event: SystemEvent) {
            if case .landed(_, _, let file) = event { paths.withLock { $0.append(file) } }
            let text =
                switch event {
                case .landed(let task, let head, _): "landed \(task.id) \(head.status)"
                case .ended(let task, nil): "ended \(task.id)"
                case .ended(let task, let failure?): "failed \(task.id) \(failure.code) \(failure.reason ?? -1)"
                case .wrote(let task): "wrote \(task.id)"
                case .drained: "drained"
                }
            texts.withLock { $0.append(text) }
        }
    }

    init() {
        system = ScriptedSystem(
            disk: disk, directory: "/h", origins: ["/f": ScriptedOrigin([Resource(size: 9_000, seed: 1)])], seed: 1)
    }

    private func requests(_ count: Int) throws -> [LeasedRequest] {
        let candidates = try (0..<count).map { number in
            HandoverCandidate(
                download: DownloadID(rawValue: "\(number)"),
                target: HandoverTarget(url: try DownloadURL("http://a.test/f")),
                identity: FileIdentity(etag: "\"s1-9000\""), total: 9_000)
        }
        var random = SeededGenerator(seed: 5)
        var machine = HandoverMachine()
        return machine.handOver(candidates, using: &random).requests
    }

    private func listen(isAlive: @escaping @Sendable () -> Bool = { true }) -> ScriptedSystemSession {
        let session = system.session(isAlive: isAlive)
        session.setHandler { [seen] in seen.take($0) }
        return session
    }

    @Test("ScriptedSystem: tasks go on without the app, and their events come once the session is made again")
    func outlives() async throws {
        system.set(app: .foreground)
        _ = await listen().begin(try requests(1))
        system.set(disk: disk)
        for _ in 0..<10 { system.advance(by: 1) }
        #expect(system.wantsToWake)
        system.wake()
        system.deliver()
        #expect(seen.events == [])
        _ = listen()
        system.deliver()
        #expect(seen.events == ["landed 1 206", "ended 1", "drained"])
        system.deliver()
        #expect(seen.events.count == 3)
    }

    @Test("ScriptedSystem: the file is gone when the handler has returned")
    func temporary() async throws {
        system.set(app: .foreground)
        _ = await listen().begin(try requests(1))
        for _ in 0..<10 { system.advance(by: 1) }
        system.deliver()
        let file = try #require(seen.files.first)
        #expect(try !disk.exists(file))
    }

    @Test("ScriptedSystem: a suspended app receives nothing")
    func suspended() async throws {
        system.set(app: .foreground)
        _ = await listen().begin(try requests(1))
        system.set(app: .suspended)
        for _ in 0..<10 { system.advance(by: 1) }
        system.deliver()
        #expect(seen.events == [])
    }

    @Test("ScriptedSystem: of tasks begun in the background each waits twice as long, until the user is back")
    func delays() async throws {
        system.wake()
        _ = await listen().begin(try requests(3))
        #expect(system.beginnings == [60, 120, 240])
        system.set(app: .foreground)
        _ = await listen().begin(try requests(1))
        #expect(system.beginnings == [60, 120, 240, 0])
    }

    @Test("ScriptedSystem: a force quit cancels all tasks with the reason 0, and wakes nobody")
    func forceQuit() async throws {
        system.set(app: .foreground)
        _ = await listen().begin(try requests(2))
        system.forceQuit()
        #expect(!system.wantsToWake)
        system.set(app: .foreground)
        _ = listen()
        system.deliver()
        #expect(seen.events == ["failed 1 -999 0", "failed 2 -999 0", "drained"])
    }

    @Test("ScriptedSystem: calls of a killed process have no effect")
    func killed() async throws {
        system.set(app: .foreground)
        let session = listen(isAlive: { false })
        #expect(await session.begin(try requests(1)) == [:])
        #expect(system.beginnings == [])
    }

    @Test("ScriptedSystem: at most four tasks to a host transfer at a time")
    func connections() async throws {
        system.set(app: .foreground)
        let session = listen()
        _ = await session.begin(try requests(6))
        system.advance(by: 1)
        let waiting = await session.tasks().filter { $0.id > 4 }
        #expect(waiting.map(\.received) == [0, 0])
    }
}
