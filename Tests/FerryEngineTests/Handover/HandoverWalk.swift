import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage

@testable import FerryEngine

/// What survives the process, other than the disk: the app's store of events, and what the test knows.
final class WalkLog: Sendable {
    struct State {
        var ends: [LeaseNumber: [LeaseOutcome]] = [:]
        /// Leases whose tasks may have begun.
        var begun: Set<LeaseNumber> = []
        /// The calls of each completion handler, and the process that it was given to.
        var completions: [(process: Int, calls: Int)] = []
        /// The claims that each download was told, in its present pair.
        var told: [DownloadID: RangeSet<ByteCount>] = [:]
        var failures = 0
        var now = 0.0
    }
    private let state = Mutex(State())

    func with<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }
    var now: Double { state.withLock { $0.now } }

    /// A completion handler of the system, which counts its calls.
    func completion(for process: Int) -> HandoverKeeper.Completion {
        let index = with { state in
            state.completions.append((process, 0))
            return state.completions.count - 1
        }
        return { self.with { $0.completions[index].calls += 1 } }
    }
}

/// An app with one or two downloads, its disk, the system and the servers, in a random order of events.
final class HandoverWalk {
    static let landing = LandingDirectory("/h")

    struct Download: Sendable {
        let id: DownloadID
        let path: String
        var isListed = true
        var paths: DownloadPaths? { DownloadPaths(directory: "/d", name: String(path.dropFirst())) }
    }

    /// One process of the app. It dies at a call of the file system.
    final class Process {
        let number: Int
        let fileSystem: FaultyFileSystem
        let isAlive: @Sendable () -> Bool
        var keeper: HandoverKeeper?

        init(_ number: Int, on disk: ModelDisk, dyingAt call: Int) {
            self.number = number
            let fileSystem = FaultyFileSystem(.fromThen(call), over: disk)
            self.fileSystem = fileSystem
            isAlive = { fileSystem.count <= call }
        }
    }

    var random: SeededGenerator
    var disk: ModelDisk
    let system: ScriptedSystem
    let log = WalkLog()
    var downloads: [Download] = []
    var process: Process?
    var app = ScriptedSystem.App.absent
    var processes = 0
    var problems: [String] = []
    var trace: [String] = []
    private let limits: HandoverLimits

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let size = ByteCount([9_001, 20_480, 33_333].randomElement(using: &random) ?? 9_001)
        let isUnproven = Int.random(in: 0..<6, using: &random) == 0
        var origins: [String: ScriptedOrigin] = [:]
        var all: [Resource] = []
        for number in 0..<Int.random(in: 1...2, using: &random) {
            let versions = (1...3).map { version in
                let seed = UInt64(10 * number + version)
                let tag = isUnproven ? "W/\"s\(seed)-\(size)\"" : "\"s\(seed)-\(size)\""
                return Resource(size: size, seed: seed, etag: tag)
            }
            var origin = ScriptedOrigin(versions)
            origin.oddities = [0, 0.1, 0.4].randomElement(using: &random) ?? 0
            origin.honoursConditions = Bool.random(using: &random)
            origins["/f\(number)"] = origin
            all += versions
            downloads.append(Download(id: DownloadID(rawValue: "f\(number)"), path: "/f\(number)"))
        }
        let disk = ModelDisk(DiskImage(directories: ["/d", "/h"]), rules: WritingRules(all))
        var script = ScriptedSystem.Script()
        script.loses = [0, 0.05].randomElement(using: &random) ?? 0
        script.fails = [0, 0.1].randomElement(using: &random) ?? 0
        script.repeats = [0, 0.2].randomElement(using: &random) ?? 0
        script.silence = [0, 0, 300].randomElement(using: &random) ?? 0
        script.redelivers = Bool.random(using: &random)
        script.tells = Bool.random(using: &random)
        system = ScriptedSystem(
            disk: disk, directory: "/h", origins: origins, script: script, seed: random.next())
        var limits = HandoverLimits()
        limits.minSegmentBytes = [2_000, 5_000, 100_000].randomElement(using: &random) ?? 2_000
        limits.maxTasks = [3, 12].randomElement(using: &random) ?? 12
        self.limits = limits
        self.disk = disk
        self.random = random
        for download in downloads { try makePair(of: download, on: disk) }
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    // MARK: Files

    private func makePair(of download: Download, on fileSystem: any FileSystem) throws {
        guard let paths = download.paths, let origin = system.origin(download.path) else { return }
        let part = try PartFile.create(at: paths.part, fileSystem: fileSystem)
        defer { part.close() }
        let identity = origin.identity
        var record = JournalRecord(
            id: download.id.rawValue, urls: ["http://model.test\(download.path)"], name: paths.name,
            totalBytes: identity.totalBytes, identity: identity, createdAt: ScriptedSystem.epoch)
        record.partDevice = part.device
        record.partInode = part.inode
        try Journal.create(at: paths.journal, record: record, fileSystem: fileSystem, syncs: true).close()
    }

    /// Opens a pair as the manager would: `nil` if the download is not listed.
    private static func open(_ download: Download, on fileSystem: any FileSystem) throws(DownloadError) -> HandoverPair?
    {
        guard download.isListed, let paths = download.paths else { return nil }
        let part: PartFile
        do throws(PartFileError) { part = try PartFile.open(paths.part, fileSystem: fileSystem) } catch {
            throw DownloadError(error)
        }
        do throws(JournalError) {
            let (journal, record) = try Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: true)
            return HandoverPair(
                part: part, journal: journal, record: record, rules: ResumeRules(), syncs: true, acceptsUnproven: true)
        } catch {
            part.close()
            throw DownloadError(error)
        }
    }

    /// Removes a pair and begins another, for the version that the server has now.
    private func restart(_ download: Download, on fileSystem: any FileSystem) throws {
        guard let paths = download.paths else { return }
        log.with { $0.told[download.id] = nil }
        try fileSystem.removeIfPresent(paths.journal)
        try fileSystem.removeIfPresent(paths.newJournal)
        try fileSystem.removeIfPresent(paths.part)
        try fileSystem.syncDirectory("/d")
        try makePair(of: download, on: fileSystem)
    }

    // MARK: Processes

    /// Starts the app: what is broken is mended as the first run of a download would.
    func launch(_ state: ScriptedSystem.App, dies: Bool = true) async {
        processes += 1
        let call = dies && chance(0.5) ? Int.random(in: 0..<260, using: &random) : Int.max - 1
        let process = Process(processes, on: disk, dyingAt: call)
        self.process = process
        app = state
        trace.append("launch \(state), dies at call \(call)")
        if state == .background { system.wake() } else { system.set(app: state) }
        for download in downloads where download.isListed {
            let pair = try? Self.open(download, on: process.fileSystem)
            let isSound = pair.map { $0.record.partInode == $0.part.inode } ?? false
            pair?.close()
            if isSound { check(download) } else { try? restart(download, on: process.fileSystem) }
        }
        let (log, fileSystem, isAlive) = (self.log, process.fileSystem, process.isAlive)
        let listed = downloads
        let manager = HandoverKeeper.Manager(
            open: { lease, _ throws(DownloadError) in
                guard let download = listed.first(where: { $0.id == lease.download }) else { return nil }
                return try Self.open(download, on: fileSystem)
            },
            report: { end throws(DownloadError) in
                guard isAlive() else { throw DownloadError(.disk, "killed") }
                log.with { state in
                    state.ends[end.lease.number, default: []].append(end.outcome)
                    if case .claimed = end.outcome, let range = end.lease.range {
                        state.told[end.lease.download, default: RangeSet()].insert(contentsOf: range)
                    }
                }
            },
            failed: { _, _ in log.with { $0.failures += 1 } },
            now: { .seconds(log.now) },
            date: { Date(timeIntervalSince1970: ScriptedSystem.epoch + log.now) })
        process.keeper = try? await HandoverKeeper.open(
            system.session(isAlive: isAlive), landing: Self.landing, fileSystem: fileSystem, limits: limits,
            manager: manager)
        await mourn()
    }

    /// Ends the process after it has died, or now; the disk is as a kill or a power cut leaves it.
    func crash(powerCut: Bool) {
        trace.append(powerCut ? "power cut" : "killed")
        problems += disk.violations
        let step = DiskStep.now(of: disk)
        disk = powerCut ? step.powerCut(seed: random.next()) : step.crash()
        problems += disk.violations
        process = nil
        app = .absent
        system.set(disk: disk)
    }

    /// Notices that the process has died at one of its calls.
    private func mourn() async {
        guard let process, !process.isAlive() || process.keeper == nil else { return }
        crash(powerCut: chance(0.4))
    }

    /// Compares the journal with what was told before.
    private func check(_ download: Download) {
        guard let paths = download.paths, let record = try? Journal.read(at: paths.journal, fileSystem: disk) else {
            return
        }
        let claims = RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()
        let lost = log.with { $0.told[download.id] ?? RangeSet() }.subtracting(claims)
        if !lost.isEmpty { problems.append("\(download.id): told that \(lost) is claimed, and it is not") }
    }

    // MARK: Events

    private func pass(_ seconds: Double) {
        log.with { $0.now += seconds }
        system.advance(by: seconds)
    }

    /// The engine fetches a missing range, and claims it.
    private func fetch(_ download: Download, _ process: Process) {
        guard let pair = try? Self.open(download, on: process.fileSystem) else { return }
        defer { pair.close() }
        var record = pair.record
        guard let origin = system.origin(download.path), let total = record.totalBytes,
            let version = origin.versions.first(where: { $0.etag == record.identity.etag })
        else { return }
        let claims = RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()
        var free = claims.gaps(in: 0..<total)
        // Mostly where nothing is leased; a mistake must do no harm.
        if chance(0.8), let keeper = process.keeper {
            free.subtract(RangeSet(keeper.leases.lazy.filter { $0.download == download.id }.map(\.reserved)))
        }
        guard let gap = free.ranges.first else { return }
        let range =
            gap.lowerBound..<min(gap.upperBound, gap.lowerBound + ByteCount.random(in: 1...4_000, using: &random))
        let bytes = FileBytes.of(version).all[Int(range.lowerBound)..<Int(range.upperBound)]
        record.claimed = claims.union(RangeSet(range)).pairs
        do {
            try pair.part.write(Array(bytes), at: range.lowerBound)
            try pair.part.dataSync()
            try pair.journal.write(record)
        } catch { return }
        log.with { $0.told[download.id, default: RangeSet()].insert(contentsOf: range) }
    }

    private func handOver(_ process: Process) async {
        guard let keeper = process.keeper else { return }
        var candidates: [HandoverCandidate] = []
        for download in downloads where download.isListed {
            guard let paths = download.paths,
                let record = try? Journal.read(at: paths.journal, fileSystem: process.fileSystem),
                let url = try? DownloadURL("http://model.test\(download.path)")
            else { continue }
            var candidate = HandoverCandidate(
                download: download.id, target: HandoverTarget(url: url), identity: record.identity,
                total: record.totalBytes, claimed: RangeSet(pairs: record.claimed) ?? RangeSet())
            candidate.unproven = .whole
            candidate.hasRanges = chance(0.8) ? true : nil
            candidates.append(candidate)
        }
        let before = Set(keeper.leases.map(\.number))
        var generator = random
        _ = try? await keeper.handOver(candidates, using: &generator)
        random = generator
        let begun = process.isAlive() ? Set(keeper.leases.map(\.number)).subtracting(before) : []
        log.with { $0.begun.formUnion(begun) }
    }

    /// One random event.
    func step() async {
        defer {
            let new = disk.violations.filter { !problems.contains($0) }
            problems += new
        }
        guard let process, let keeper = process.keeper else {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: pass(Double.random(in: 1...200, using: &random))
            case 2 where system.wantsToWake, 3 where system.wantsToWake:
                await launch(.background)
                if let process = self.process {
                    process.keeper?.woken(log.completion(for: process.number))
                }
            default: await launch(.foreground)
            }
            return
        }
        let event = Int.random(in: 0..<20, using: &random)
        trace.append("\(app) event \(event)")
        switch (app, event) {
        case (.suspended, 0..<8): pass(Double.random(in: 1...200, using: &random))
        case (.suspended, 8..<14) where system.wantsToWake:
            system.wake()
            app = .background
            keeper.woken(log.completion(for: process.number))
        case (.suspended, 14..<17): await comeToForeground(keeper)
        case (.suspended, 17): crash(powerCut: false)
        case (.suspended, 18): crash(powerCut: true)
        case (.suspended, _): forceQuit()
        case (_, 0..<4): system.deliver()
        case (_, 4..<7): try? await keeper.settle()
        case (_, 7), (_, 8): pass(Double.random(in: 1...100, using: &random))
        case (.foreground, 9), (.foreground, 10):
            if let download = downloads.randomElement(using: &random) { fetch(download, process) }
        case (.background, 9), (.background, 10), (.background, 11): suspend()
        case (_, 11), (_, 12), (_, 13):
            await handOver(process)
            if process.isAlive(), chance(0.8) { suspend() }
        case (_, 14): try? await keeper.compare()
        case (_, 15): changeServer(process)
        case (.background, 16):
            keeper.hurry()
            keeper.timeIsUp()
        case (_, 16): await comeToForeground(keeper)
        case (_, 17):
            if chance(0.2), let index = downloads.indices.randomElement(using: &random) {
                downloads[index].isListed = false
                keeper.withdrew(downloads[index].id)
            }
        case (_, 18): crash(powerCut: chance(0.5))
        default: forceQuit()
        }
        await mourn()
    }

    private func suspend() {
        system.set(app: .suspended)
        app = .suspended
    }

    private func comeToForeground(_ keeper: HandoverKeeper) async {
        system.set(app: .foreground)
        app = .foreground
        keeper.hasTime()
        for download in downloads { keeper.retried(download.id) }
        try? await keeper.cameToForeground()
    }

    private func forceQuit() {
        system.forceQuit()
        crash(powerCut: false)
        trace.append("force quit")
    }

    /// The file changes on the server; the engine may notice, and begins anew.
    private func changeServer(_ process: Process) {
        guard let download = downloads.randomElement(using: &random) else { return }
        let next = Int.random(in: 0..<3, using: &random)
        system.change(download.path) { $0.current = next }
        if download.isListed, chance(0.5) { try? restart(download, on: process.fileSystem) }
    }

    // MARK: The end

    /// Brings the app to the foreground and lets everything end.
    func finish() async {
        if process != nil { crash(powerCut: chance(0.3)) }
        for download in downloads { system.change(download.path) { $0.oddities = 0 } }
        system.set(ScriptedSystem.Script())
        await launch(.foreground, dies: false)
        guard let process, let keeper = process.keeper else { return problems.append("the last start failed") }
        keeper.woken(log.completion(for: process.number))
        for _ in 0..<20 {
            await comeToForeground(keeper)
            pass(400)
            system.deliver()
            do { try await keeper.settle() } catch { problems.append("\(error)") }
            if keeper.leases.isEmpty { break }
        }
        problems += disk.violations
        for download in downloads where download.isListed { check(download) }
        if !keeper.leases.isEmpty { problems.append("leases that do not end: \(keeper.leases)") }
        if (try? Self.landing.leases(disk)) != .some(.empty) { problems.append("leases are stored") }
        let left = (try? disk.list("/h").filter { $0.hasSuffix(".landed") }) ?? []
        if !left.isEmpty { problems.append("left: \(left)") }
        log.with { state in
            for number in state.begun where state.ends[number] == nil {
                problems.append("the end of \(number) was not reported")
            }
            for (index, completion) in state.completions.enumerated() {
                let isRight = completion.process == process.number ? completion.calls == 1 : completion.calls <= 1
                if !isRight { problems.append("completion handler \(index) was called \(completion.calls) times") }
            }
        }
    }
}
