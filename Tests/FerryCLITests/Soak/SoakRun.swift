import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

/// A daemon under load: downloads and sets of every kind, a gateway in use, reconnecting clients, kills, a full disk.
///
/// ```
/// turbulent rounds    kill -9 in each; the list has every request, after any kill
/// calm rounds         one run of the daemon: its resources are measured after a warm-up and at the end
/// ```
///
/// After each round every download and set has ended as its server implies, with the right bytes, and all of them are
/// removed with their files: nothing may be left in their directories. The files of the gateway stay in its cache, which
/// is smaller than those of a round.
struct SoakRun {
    private static let perRound = 32
    private static let lanes = 8
    private static let visitors = 4
    /// One of so many rounds has slow sets too.
    private static let thorough = 5
    /// The files of earlier rounds that clients of the gateway ask for again.
    private static let mostCached = 40

    private let server: OriginServer
    private let place: Workplace
    private let disk: SoakDisk?
    private let arguments: [String]
    private var serve: ServeProcess
    private var random: SeededGenerator
    private var number = 0
    /// The rounds of the last run of the daemon.
    private var calmRounds = 0
    private var cached: [SoakGateway.Link] = []
    private(set) var figures = SoakFigures()

    init(_ server: OriginServer, in place: Workplace, arguments: [String], seed: UInt64) async throws {
        (self.server, self.place, random) = (server, place, SeededGenerator(seed: seed))
        disk = SoakDisk(at: place.path("disk"))
        try FileManager.default.createDirectory(atPath: place.path("config"), withIntermediateDirectories: true)
        // The directories for moved downloads and for sets, and the disk that is full at times.
        let settings = ["allowedDirectories": [place.path("moved"), place.path("sets"), place.path("disk")]]
        try JSONEncoder().encode(settings).write(to: URL(filePath: place.path("config/ferry.json")))
        let gateway = [
            "--gateway", "--gateway-port", "0", "--gateway-upstream", "pypi=" + server.url("/simple/"),
            "--gateway-size", "\(SoakCached.cacheSize)",
        ]
        self.arguments = ["-j", "\(Self.lanes)", "--on-complete", "true"] + gateway + arguments
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
    private var gateway: SoakGateway { SoakGateway(serve: serve, server: server) }
    private var sets: SoakSets { SoakSets(serve, server, in: place) }

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
        let warmDisk = SoakUsage.bytes(below: place.path("state"))
        repeat { try await round(kills: false) } while ContinuousClock.now < end
        // Some resources are released a little later.
        var last = try await idle()
        for _ in 0..<600 where last.descriptors > warm.descriptors || last.children > warm.children {
            try await Task.sleep(for: .milliseconds(200))
            last = try await idle()
        }
        figures.usage = (warm, last)
        figures.disk = (warmDisk, SoakUsage.bytes(below: place.path("state")))
        figures.evictions = try await gateway.metric("ferry_gateway_evictions_total")
        figures.refusals = try await gateway.metric("ferry_gateway_refused_total")
    }

    /// What a round asks for.
    private struct Work: Sendable {
        var items: [SoakItem]
        var sets: [SoakSet.Served]
        var page: String
        var files: [(SoakCached, SoakFile)]
        var seed: UInt64
    }

    private mutating func work() -> Work {
        let kinds = (0..<Self.perRound).map { _ in SoakKind.allCases.randomElement(using: &random) ?? .plain }
        let items = kinds.enumerated().map { SoakItem(kind: $1, number: number + $0) }
        number += kinds.count
        // The slow ones in the warm-up, and then in some.
        let isThorough = calmRounds % Self.thorough == 1
        let kindsOfSets = SoakSet.allCases.filter { isThorough || !$0.isSlow }
        let sets = kindsOfSets.enumerated().map { $1.serve(number + $0, on: server) }
        number += sets.count
        let (page, files) = SoakGateway.publish(number, on: server)
        number += files.count
        return Work(items: items, sets: sets, page: page, files: files, seed: random.next())
    }

    private mutating func round(kills: Bool) async throws {
        if !kills { calmRounds += 1 }
        let work = work()
        let delay = Int.random(in: 0..<3000, using: &random)
        let (listed, visit) = await begin(work, killingAfter: kills ? .milliseconds(delay) : nil)
        figures.clients += Self.visitors
        figures.gateway += visit
        if kills {
            try await restart(by: SIGKILL)
            figures.kills += 1
        }
        let (client, gateway, sets, place) = (client, gateway, sets, place)
        try await client.checkListed(listed)
        async let synced = sets.settle(work.sets)
        async let checked = Self.check(work, gateway)
        for item in work.items { try await client.finish(item) }
        try await client.settle(work.items, in: place)
        for item in work.items { figures.ends[item.kind, default: 0] += 1 }
        try await client.removeAll(work.items)
        let (counts, links) = try await checked
        figures.gateway += counts
        cached = (cached + links.filter { $0.kind.end == .whole }).suffix(Self.mostCached)
        figures.sets += try await synced
        if let disk, figures.rounds % 3 == 1 { try await fill(disk, client) }
        for name in ["downloads", "moved", "sets"] {
            let left = (try? FileManager.default.contentsOfDirectory(atPath: place.path(name))) ?? []
            #expect(left == [], "round \(figures.rounds): left in \(name)")
        }
        figures.rounds += 1
        figures.bytesServed = server.bodyBytes()
        figures.mostMemory = max(figures.mostMemory, SoakUsage(of: serve.process.id)?.memory ?? 0)
    }

    /// Lets clients ask for everything, and visitors come and go, of a daemon that is killed after a while if so given:
    /// requests to it may fail then, and are repeated afterwards. Returns the downloads that it has listed.
    private func begin(_ work: Work, killingAfter delay: Duration?) async -> ([SoakItem], SoakGateway.Counts) {
        let (client, gateway, sets, cached) = (client, gateway, sets, cached)
        async let visit = Self.visit(work, cached, gateway, isKilled: delay != nil)
        let listed = await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.visitors { group.addTask { try? await client.comeAndGo() } }
            group.addTask { try? await sets.begin(work.sets) }
            if let delay {
                group.addTask {
                    try? await Task.sleep(for: delay)
                    client.serve.process.signal(SIGKILL)
                }
            }
            var listed: [SoakItem] = []
            for item in work.items {
                guard let isListed = try? await client.begin(item) else { break }
                if isListed { listed.append(item) }
            }
            return listed
        }
        return (listed, await visit)
    }

    private static func visit(
        _ work: Work, _ cached: [SoakGateway.Link], _ gateway: SoakGateway, isKilled: Bool
    ) async -> SoakGateway.Counts {
        guard let links = try? await gateway.links(work.page, work.files) else {
            #expect(isKilled, "no page of the index")
            return SoakGateway.Counts()
        }
        return await gateway.visit(links, cached, seed: work.seed, isKilled: isKilled)
    }

    /// Asks for every file of a round once more, and compares the cache. Returns the links too.
    private static func check(
        _ work: Work, _ gateway: SoakGateway
    ) async throws -> (SoakGateway.Counts, [SoakGateway.Link]) {
        let links = try await gateway.links(work.page, work.files)
        let counts = await gateway.check(links)
        try await gateway.settle()
        try await gateway.verify()
        return (counts, links)
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
