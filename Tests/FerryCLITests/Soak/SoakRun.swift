import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

/// A daemon under load: downloads of every kind, reconnecting clients, kills, a full disk.
///
/// ```
/// turbulent rounds    kill -9 in each; the list has every request, after any kill
/// calm rounds         one run of the daemon: its resources are measured after a warm-up and at the end
/// ```
///
/// After each round every download has ended as its server implies, with the right bytes, and all of them are removed
/// with their files: nothing may be left in their directories.
struct SoakRun {
    private static let perRound = 32
    private static let lanes = 8
    private static let visitors = 4

    private let server: OriginServer
    private let place: Workplace
    private let disk: SoakDisk?
    private let arguments: [String]
    private var serve: ServeProcess
    private var random: SeededRandom
    private var number = 0
    private(set) var figures = SoakFigures()

    init(_ server: OriginServer, in place: Workplace, arguments: [String], seed: UInt64) async throws {
        (self.server, self.place, random) = (server, place, SeededRandom(seed))
        disk = SoakDisk(at: place.path("disk"))
        try FileManager.default.createDirectory(atPath: place.path("config"), withIntermediateDirectories: true)
        // The directory for moved downloads, and the disk that is full at times.
        let settings = ["allowedDirectories": [place.path("moved"), place.path("disk")]]
        try JSONEncoder().encode(settings).write(to: URL(filePath: place.path("config/ferry.json")))
        self.arguments = ["-j", "\(Self.lanes)", "--on-complete", "true"] + arguments
        figures.isConfined = arguments.contains("--confine")
        serve = try await Self.start(self.arguments, in: place)
    }

    private static func start(_ arguments: [String], in place: Workplace) async throws -> ServeProcess {
        var serve = try await ServeProcess.start(arguments, in: place, limit: 1e6)
        serve.http = HTTPClient(eventLoopGroupProvider: .singleton)
        return serve
    }

    /// Ends the daemon.
    func stop() async throws {
        try await serve.http.shutdown()
        try await serve.stop()
    }

    private var client: SoakClient { SoakClient(serve: serve, server: server, moved: place.path("moved")) }

    // MARK: Rounds

    /// Rounds with a kill in each, at least one, until a time.
    mutating func turbulent(until end: ContinuousClock.Instant) async throws {
        repeat { try await round(kills: true) } while ContinuousClock.now < end
    }

    /// Rounds of one run, at least three, until a time; then measures the remaining resources.
    mutating func calm(until end: ContinuousClock.Instant) async throws {
        try await restart(by: SIGTERM)
        for _ in 0..<2 { try await round(kills: false) }
        let warm = try await idle()
        repeat { try await round(kills: false) } while ContinuousClock.now < end
        // Some resources are released a little later.
        var last = try await idle()
        for _ in 0..<600 where last.descriptors > warm.descriptors || last.children > warm.children {
            try await Task.sleep(for: .milliseconds(200))
            last = try await idle()
        }
        figures.usage = (warm, last)
    }

    private mutating func round(kills: Bool) async throws {
        let kinds = (0..<Self.perRound).map { _ in SoakKind.allCases.randomElement(using: &random) ?? .plain }
        let first = number
        number += kinds.count
        let items = kinds.enumerated().map { SoakItem(kind: $1, number: first + $0) }
        let delay = Int.random(in: 0..<3000, using: &random)
        let before = client
        // A request to a daemon that is being killed may fail: it is repeated afterwards.
        let listed = await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.visitors { group.addTask { try? await before.comeAndGo() } }
            if kills {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(delay))
                    before.serve.process.signal(SIGKILL)
                }
            }
            var listed: [SoakItem] = []
            for item in items {
                guard let isListed = try? await before.begin(item) else { break }
                if isListed { listed.append(item) }
            }
            return listed
        }
        figures.clients += Self.visitors
        if kills {
            try await restart(by: SIGKILL)
            figures.kills += 1
        }
        let client = self.client
        try await client.checkListed(listed)
        for item in items { try await client.finish(item) }
        try await client.settle(items, in: place)
        for item in items { figures.ends[item.kind, default: 0] += 1 }
        try await client.removeAll(items)
        if let disk, figures.rounds % 3 == 1 { try await fill(disk, client) }
        for name in ["downloads", "moved"] {
            let left = (try? FileManager.default.contentsOfDirectory(atPath: place.path(name))) ?? []
            #expect(left == [], "round \(figures.rounds): left in \(name)")
        }
        figures.rounds += 1
        figures.bytesServed = server.bodyBytes()
        figures.mostMemory = max(figures.mostMemory, SoakUsage(of: serve.process.id)?.memory ?? 0)
    }

    /// A download without space waits, and continues automatically once there is some.
    private mutating func fill(_ disk: SoakDisk, _ client: SoakClient) async throws {
        number += 1
        let item = SoakItem(kind: .plain, number: number)
        try disk.makeFull()
        try await client.add(item, to: disk.path)
        try await client.wait(for: item) { $0 == .waiting(.diskSpace) }
        try disk.makeRoom()
        try await client.settle([item], in: place, folder: "disk")
        try await client.removeAll([item])
        figures.fullDisks += 1
    }

    private mutating func restart(by signal: Int32) async throws {
        if signal != SIGKILL { serve.process.signal(signal) }
        _ = try await serve.process.outcome()
        try await serve.http.shutdown()
        serve = try await Self.start(arguments, in: place)
    }

    /// The daemon's resources without any connection.
    private mutating func idle() async throws -> SoakUsage {
        try await serve.http.shutdown()
        await server.dropConnections()
        var usage = try #require(SoakUsage(of: serve.process.id))
        // Waits until they stay the same for a while: idle connections and threads end.
        var same = 0
        while same < 10 {
            try await Task.sleep(for: .milliseconds(300))
            let next = try #require(SoakUsage(of: serve.process.id))
            same = (next.descriptors, next.threads) == (usage.descriptors, usage.threads) ? same + 1 : 0
            usage = next
        }
        serve.http = HTTPClient(eventLoopGroupProvider: .singleton)
        return usage
    }
}
