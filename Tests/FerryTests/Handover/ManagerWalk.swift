import Dispatch
import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import Synchronization
import SystemPackage

@testable import Ferry
@testable import FerryEngine

/// What the app of a walk remembers, whatever happens to its processes.
final class ManagerWalkLog: Sendable {
    struct State {
        /// The downloads whose completion the app was told.
        var completed: Set<DownloadID> = []
        /// The calls of each completion handler, and the process that it was given to.
        var completions: [(process: Int, calls: Int)] = []
        var problems: [String] = []
        /// The numbers of what has happened, by kind.
        var counts: [String: Int] = [:]
        /// What has happened, in order.
        var trace: [String] = []
        /// What the end of the walk waits for.
        var awaited = ""
    }
    private let state = Mutex(State())

    func with<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }
    func count(_ kind: String, _ number: Int = 1) { with { $0.counts[kind, default: 0] += number } }
    func fail(_ problem: String) { with { $0.problems.append(problem) } }
    func note(_ event: String) { with { $0.trace.append(event) } }
    var problems: [String] { with { $0.problems } }
    var trace: [String] { with { $0.trace } }

    func calls(of completion: Int) -> Int { with { $0.completions[completion].calls } }
}

/// An app with a whole manager, in a random order of events: the user, the system, the servers, kills and power cuts.
///
/// The downloads and the landed files are on a ``ModelDisk``, which checks each step against its ``WritingRules``; the list is
/// a catalogue on the disk of this machine. A power cut leaves what the catalogue has committed.
final class ManagerWalk {
    private struct Process {
        let number: Int
        let life: WalkLife
        let manager: DownloadManager
        let transport: WalkTransport
        let clock: ManualClock
        let listener: Task<Void, Never>
    }

    var random: SeededGenerator
    private let log: ManagerWalkLog
    private let identifier: String
    private let state: String
    /// The directory of the downloads, which the manager also seeks on the disk of this machine.
    private let directory: String
    private let system: ScriptedSystem
    private let limits: HandoverLimits
    private let slots: Int
    private var disk: ModelDisk
    private var process: Process?
    private var processes = 0
    private var app = ScriptedSystem.App.absent
    /// The paths of the URLs that are left to be added.
    private var paths: [String] = []
    private var hasAdded = false
    /// Downloads that the user has paused or removed.
    private var paused: Set<DownloadID> = []
    /// Processes that died while their app was in the foreground.
    private var falls = 0
    /// What the journals claimed at the last suspension, by the path of the URL, of files that have not changed since.
    private var claims: [String: RangeSet<ByteCount>] = [:]

    /// - Parameters:
    ///   - place: An empty directory of this machine.
    ///   - log: Gets what happens.
    init(seed: UInt64, place: String, _ log: ManagerWalkLog) {
        self.log = log
        var random = SeededGenerator(seed: seed)
        identifier = "walk-\(seed)"
        state = place + "/state"
        directory = place + "/files"
        var origins: [String: ScriptedOrigin] = [:]
        var all: [Resource] = []
        for number in 0..<Int.random(in: 1...3, using: &random) {
            // Larger than what is kept in memory, or not.
            let size = ByteCount([1_100_003, 1_300_001, 1_100_003, 60_001].randomElement(using: &random) ?? 60_001)
            let versions = (1...2).map { version in
                Resource(size: size, seed: UInt64(10 * number + version), etag: "\"\(number)-\(version)-\(size)\"")
            }
            var origin = ScriptedOrigin(versions)
            origin.oddities = [0, 0, 0.3].randomElement(using: &random) ?? 0
            origin.honoursConditions = Bool.random(using: &random)
            origins["/f\(number)"] = origin
            all += versions
            paths.append("/f\(number)")
        }
        let names = FilePath(place).components.map(\.string)
        let parents = names.indices.map { FilePath("/" + names[...$0].joined(separator: "/")) }
        let directories = parents + [FilePath(state), FilePath(directory), "/t"]
        let disk = ModelDisk(DiskImage(directories: directories), rules: WritingRules(all))
        self.disk = disk
        var script = ScriptedSystem.Script()
        script.loses = [0, 0, 0.05].randomElement(using: &random) ?? 0
        script.fails = [0, 0, 0.1].randomElement(using: &random) ?? 0
        script.repeats = [0, 0.2].randomElement(using: &random) ?? 0
        script.silence = [0, 0, 300].randomElement(using: &random) ?? 0
        script.redelivers = Bool.random(using: &random)
        script.tells = Bool.random(using: &random)
        system = ScriptedSystem(
            // Landed files are renamed, or copied as to another volume.
            disk: disk, directory: Bool.random(using: &random) ? FilePath(state).appending("handover") : "/t",
            origins: origins, script: script, seed: random.next())
        var limits = HandoverLimits()
        limits.minSegmentBytes = [150_000, 500_000, 32 << 20].randomElement(using: &random) ?? 150_000
        self.limits = limits
        slots = Int.random(in: 1...3, using: &random)
        self.random = random
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    // MARK: Processes

    private func start(dies: Bool = true) -> Process {
        processes += 1
        let (number, log, system, disk, directory) = (processes, log, system, disk, directory)
        let calls = [50, 200, 1000].randomElement(using: &random) ?? 200
        let call = dies && chance(0.5) ? Int.random(in: 0..<calls, using: &random) : nil
        log.note("process \(processes)\(call.map { ", dies at call \($0)" } ?? "")")
        let life = WalkLife(dyingAt: call ?? .max)
        let fileSystem = FaultyFileSystem(.none, over: disk, look: { _, _ in life.enter() })
        let clock = ManualClock()
        let transport = WalkTransport(system) { path, asked, head in
            guard life.isAlive, let range = Self.repeated(path, head, in: directory, on: disk) else { return }
            log.fail("\(path): \(range) is claimed, and was requested again with \(asked)")
        }
        let engine = EngineProvider(clock: clock) { _ in
            EngineEnvironment(
                transport: transport, fileSystem: fileSystem, clock: clock, random: { 0 }, processor: nil)
        }
        var transfer = BackgroundTransfer()
        transfer.ignoredSettings = [.unencrypted]
        transfer.limits = limits
        var configuration = DownloadManager.Configuration.default(
            identifier: identifier, directory: directory, stateDirectory: state
        ).continuingInBackground(transfer)
        configuration.minFreeBytes = 0
        configuration.maxConcurrentDownloads = slots
        configuration.waitForBusyMachine()
        let manager = DownloadManager(
            configuration, engine: engine, monitor: ManualNetworkMonitor(),
            system: { _ in system.session { life.isAlive } })
        life.follow(manager.scheduler)
        let events = manager.events
        // owner: the process, awaited when it is dead.
        let listener = Task {
            for await event in events where life.isAlive {
                if case .completed = event.kind { log.with { _ = $0.completed.insert(event.id) } }
            }
        }
        return Process(
            number: number, life: life, manager: manager, transport: transport, clock: clock, listener: listener)
    }

    /// Returns claimed bytes that a response has once more; `nil` if there are none.
    private static func repeated(
        _ path: String, _ head: ResponseHead, in directory: String, on disk: ModelDisk
    ) -> Range<ByteCount>? {
        let journal = FilePath("\(directory)\(path).part.ferry")
        guard let record = try? Journal.read(at: journal, fileSystem: disk), let total = record.totalBytes,
            record.identity.etag == head.headers[.eTag], record.publishing == nil,
            let file = try? disk.statusIfPresent(FilePath("\(directory)\(path).part")),
            file.inode == record.partInode, let claims = RangeSet<ByteCount>(pairs: record.claimed)
        else { return nil }
        var range = 0..<total
        if head.status == 206 {
            guard let text = head.headers[.contentRange], case .part(let part, _) = ContentRange(text) else {
                return nil
            }
            range = part
        }
        return claims.intersection(RangeSet(range)).ranges.first
    }

    /// Returns what the journal of a path claims of the version that its server has; `nil` without such a journal.
    private func claimed(_ path: String) -> RangeSet<ByteCount>? {
        guard let record = try? Journal.read(at: FilePath("\(directory)\(path).part.ferry"), fileSystem: disk),
            record.identity.etag == system.origin(path)?.resource.etag
        else { return nil }
        return RangeSet(pairs: record.claimed)
    }

    /// Checks that what was claimed at the last suspension still is, or the file is published.
    private func checkClaims() {
        for (path, old) in claims where (try? disk.exists(FilePath(directory + path))) != true {
            let lost = old.subtracting(claimed(path) ?? RangeSet())
            if !lost.isEmpty { log.fail("\(path): \(lost) was claimed, and is not any more") }
        }
    }

    /// Calls the body, which ends at the death of the process at the latest; then the process is gone.
    private func alive(_ body: @escaping @Sendable (DownloadManager) async -> Void) async {
        guard let process else { return }
        let (life, manager) = (process.life, process.manager)
        let isDone = Atomic(false)
        // owner: this call, which awaits it.
        let task = Task {
            await body(manager)
            isDone.store(true, ordering: .sequentiallyConsistent)
            life.news.notify()
        }
        while true {
            let seen = life.news.count
            if life.isStopped || isDone.load(ordering: .sequentiallyConsistent) { break }
            // The walk has taken too long.
            if Task.isCancelled { life.stop() }
            await life.news.wait(after: seen)
        }
        if life.isStopped { await crash(powerCut: chance(0.4), task) } else { await task.value }
    }

    /// Ends the process where it is; the disk is as a kill or a power cut leaves it.
    private func crash(powerCut: Bool, _ task: Task<Void, Never>? = nil) async {
        guard let process else { return }
        log.count(powerCut ? "power cuts" : "kills")
        log.note(powerCut ? "power cut" : "killed")
        process.life.stop()
        if let scheduler = process.manager.scheduler {
            if scheduler.handover.isInForeground { falls += 1 }
            await scheduler.store?.close()
        }
        // Nothing that it does from here on counts.
        let step = DiskStep.now(of: disk)
        for violation in disk.violations { log.fail(violation) }
        disk = powerCut ? step.powerCut(seed: random.next()) : step.crash()
        process.life.bury()
        system.set(disk: disk)
        for violation in disk.violations { log.fail(violation) }
        checkClaims()
        app = .absent
        self.process = nil
        task?.cancel()
        process.transport.breakAll()
        await task?.value
        await process.manager.shutdown()
        await process.listener.value
    }

    private func launchByUser() async {
        log.note("started by the user")
        app = .foreground
        process = start()
        // A process whose first use is another call takes nothing back.
        let activates = chance(0.8)
        system.set(app: .foreground)
        await alive { manager in
            if activates { try? await manager.activate() } else { _ = try? await manager.downloads() }
        }
    }

    // MARK: Events

    /// Delivers what the system has, on a thread that a dying process may hold.
    private static func deliver(_ system: ScriptedSystem) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                system.deliver()
                continuation.resume()
            }
        }
    }

    private static func leases(of manager: DownloadManager) -> [Lease] {
        guard let scheduler = manager.scheduler else { return [] }
        return scheduler.handover.keeper?.leases ?? []
    }

    /// Lets the process go on until its threads rest, or for some steps; its clock shows some milliseconds more.
    private func breathe() async {
        guard let process else { return }
        let (clock, system, life, transport) = (process.clock, system, process.life, process.transport)
        await alive { manager in
            guard let scheduler = manager.scheduler else { return }
            var (last, rests) = (0, 0)
            for _ in 0..<100 where life.isAlive && rests < 5 {
                clock.advance(by: .milliseconds(20))
                await Self.deliver(system)
                await scheduler.environment.files.run { _ in }
                await Task.yield()
                let now = life.calls + transport.pieces
                rests = now == last ? rests + 1 : 0
                last = now
            }
        }
    }

    private func wake() async {
        guard let process else { return }
        log.note("woken")
        log.count("wakes")
        app = .background
        system.wake()
        let index = log.with { state in
            state.completions.append((process.number, 0))
            return state.completions.count - 1
        }
        // The time that the system gives may be over at once.
        let pace: Duration = chance(0.2) ? .seconds(5) : .milliseconds(10)
        if chance(0.5) { process.transport.permit(200_000) }
        let (log, system, clock, life, identifier) = (log, system, process.clock, process.life, identifier)
        await alive { _ in
            let isKnown = await MainActor.run {
                DownloadManager.handleBackgroundEvents(identifier) {
                    MainActor.assertIsolated()
                    if life.isAlive { log.with { $0.completions[index].calls += 1 } }
                }
            }
            if !isKnown { log.fail("the manager is not known") }
            while life.isAlive, log.calls(of: index) == 0 {
                await Self.deliver(system)
                clock.advance(by: pace)
                await Task.yield()
            }
        }
        if self.process != nil {
            app = .suspended
            system.set(app: .suspended)
        }
    }

    private func suspend() async {
        log.note("suspended")
        await alive { await $0.suspend() }
        guard let process else { return }
        log.count("leases", Self.leases(of: process.manager).count)
        checkClaims()
        for path in system.paths { claims[path] = claimed(path) }
        app = .suspended
        system.set(app: .suspended)
    }

    private func comeToForeground() async {
        log.note("in the foreground")
        app = .foreground
        system.set(app: .foreground)
        await alive { try? await $0.activate() }
    }

    private func pass(_ seconds: Double) async {
        system.advance(by: seconds)
        process?.clock.advance(by: .milliseconds(Int(seconds * 1000)))
        if app == .foreground { await breathe() }
    }

    private func add() async {
        hasAdded = true
        guard !paths.isEmpty else { return }
        let path = paths.removeFirst()
        log.note("added \(path)")
        let (log, directory) = (log, directory)
        await alive { manager in
            guard let url = try? DownloadURL("http://model.test\(path)") else { return }
            var request = DownloadRequest(sources: [url], destination: .directory(directory))
            request.maxConnections = 1
            if (try? await manager.download(request)) != nil { log.count("downloads") }
        }
    }

    /// One of the four buttons.
    private func press() async {
        let number = Int.random(in: 0..<3, using: &random)
        let pauses = chance(0.5)
        log.note(pauses ? "pause" : "resume")
        let pausedNow = Mutex<DownloadID?>(nil)
        await alive { manager in
            guard let all = try? await manager.downloads(), number < all.count else { return }
            let download = all[number]
            if pauses {
                pausedNow.withLock { $0 = download.id }
                try? await download.pause()
            } else {
                try? await download.resume()
            }
        }
        if let id = pausedNow.withLock({ $0 }) { paused.insert(id) }
    }

    private func forceQuit() async {
        log.note("force quit")
        log.count("force quits")
        // The system ends the app's tasks first.
        process?.life.stop()
        system.forceQuit()
        await crash(powerCut: false)
        system.set(app: .absent)
    }

    private func changeServer() {
        guard let path = system.paths.randomElement(using: &random) else { return }
        log.note("\(path) changed")
        log.count("changes")
        system.change(path) { $0.current = 1 - $0.current }
        claims[path] = nil
    }

    /// One random event.
    func step() async {
        defer { for violation in disk.violations { log.fail(violation) } }
        guard let process else {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: await pass(Double.random(in: 1...200, using: &random))
            case 2 where system.wantsToWake, 3 where system.wantsToWake, 4 where system.wantsToWake:
                self.process = start()
                await wake()
            case 5 where chance(0.2): changeServer()
            default: await launchByUser()
            }
            return
        }
        let event = Int.random(in: 0..<20, using: &random)
        switch (app, event) {
        case (.suspended, 0..<9): await pass(Double.random(in: 1...200, using: &random))
        case (.suspended, 9..<14): if system.wantsToWake { await wake() }
        case (.suspended, 14..<16): await comeToForeground()
        case (.suspended, 16): changeServer()
        case (.suspended, 17): await crash(powerCut: false)
        case (.suspended, 18): await crash(powerCut: true)
        case (.suspended, _): await forceQuit()
        case (_, _) where !hasAdded: await add()
        case (_, 0..<3): await add()
        case (_, 3..<8):
            process.transport.permit(ByteCount.random(in: 1...900_000, using: &random))
            await breathe()
        case (_, 8): await pass(Double.random(in: 1...60, using: &random))
        case (_, 9): process.transport.breakAll()
        case (_, 10): await press()
        case (_, 11): if chance(0.5) { changeServer() }
        case (_, 12..<18):
            // Mostly in the middle of files.
            if chance(0.6) {
                process.transport.permit(ByteCount.random(in: 1...500_000, using: &random))
                await breathe()
            }
            await suspend()
        case (_, 18): await crash(powerCut: chance(0.5))
        default: await forceQuit()
        }
    }

    // MARK: The end

    /// Brings the app to the foreground, lets everything end, and checks what is there.
    func finish() async {
        if chance(0.5) { await crash(powerCut: chance(0.3)) }
        for path in system.paths { system.change(path) { $0.oddities = 0 } }
        system.set(ScriptedSystem.Script())
        log.note("the end")
        if process == nil { process = start(dies: false) }
        guard let process else { return }
        // The present process may still die.
        app = .foreground
        system.set(app: .foreground)
        process.transport.permit(1 << 40)
        var (round, isOver) = (0, false)
        while !isOver, log.problems.isEmpty, !Task.isCancelled {
            defer { round += 1 }
            guard let process = self.process else {
                self.process = start(dies: false)
                self.process?.transport.permit(1 << 40)
                system.set(app: .foreground)
                continue
            }
            let (system, log, life) = (system, log, process.life)
            let (paused, falls, identifier, activates) = (paused, falls, identifier, round % 20 == 0)
            let ended = Atomic(false)
            await alive { manager in
                do {
                    if activates { try await manager.activate() }
                    await Self.deliver(system)
                    let all = try await manager.downloads()
                    for download in all {
                        switch download.status.state {
                        case .paused:
                            if !paused.contains(download.id), falls < RunLedger.maxCrashes {
                                log.fail("\(identifier): \(download.id) was paused after \(falls) falls")
                            }
                            try await download.resume()
                        case .failed: try await download.resume()
                        default: break
                        }
                    }
                    let keeper = manager.scheduler?.handover.keeper
                    let leases = keeper?.leases ?? []
                    let isQuiet = leases.isEmpty && keeper?.isDue != true
                    let areTold = all.allSatisfy { download in
                        if case .completed = download.status.state {
                            log.with { $0.completed.contains(download.id) }
                        } else {
                            false
                        }
                    }
                    log.with { state in
                        let states = all.map { "\($0.id) \($0.status.state)" }
                        state.awaited = "\(states), told \(state.completed), leases \(leases)"
                    }
                    ended.store(isQuiet && areTold, ordering: .sequentiallyConsistent)
                } catch {
                    // The process may have died.
                    if !life.isStopped { log.fail("\(error)") }
                }
            }
            isOver = ended.load(ordering: .sequentiallyConsistent)
            guard !isOver, self.process != nil else { continue }
            system.advance(by: 20)
            process.clock.advance(by: .seconds(5))
            await breathe()
        }
        if isOver { check() }
        if let process = self.process {
            await process.manager.shutdown()
            await process.listener.value
            for violation in disk.violations { log.fail(violation) }
        }
    }

    private func check() {
        guard let process, log.problems.isEmpty else { return }
        for path in disk.image.files where path.string.hasPrefix(directory + "/") {
            let name = path.lastComponent?.string ?? ""
            // A power cut may bring back the journal of a published file, whose removal was not synced: it says so.
            if log.with({ $0.counts["power cuts"] }) != nil, let record = try? Journal.read(at: path, fileSystem: disk),
                record.publishing?.name == record.name
            {
                continue
            }
            let versions = system.origin("/" + name)?.versions ?? []
            if versions.isEmpty { log.fail("\(name) is left") }
            let isWhole = versions.contains { Self.isEqual(path, $0, on: disk) }
            if !isWhole { log.fail("\(name) is wrong") }
        }
        let landing = LandingDirectory(FilePath(state).appending("handover"))
        if let book = try? landing.leases(disk), !book.leases.isEmpty { log.fail("leases are stored: \(book.leases)") }
        let landed = (try? disk.list(landing.path).filter { $0.contains(".landed") }) ?? []
        if !landed.isEmpty { log.fail("landed files are left: \(landed)") }
        log.with { state in
            for (index, completion) in state.completions.enumerated() {
                let isRight = completion.process == process.number ? completion.calls == 1 : completion.calls <= 1
                if !isRight {
                    state.problems.append("completion handler \(index) was called \(completion.calls) times")
                }
            }
            state.counts["completed", default: 0] += state.completed.count
            state.counts["requests of the system", default: 0] += system.sent.count
        }
    }

    private static func isEqual(_ path: FilePath, _ resource: Resource, on disk: ModelDisk) -> Bool {
        guard let file = try? disk.open(path, .readOnly) else { return false }
        defer { file.close() }
        guard let length = try? file.status().length, length == resource.size, let bytes = try? file.read(0..<length)
        else { return false }
        return bytes.withUnsafeBytes { FileBytes.of(resource).equals($0, at: 0) }
    }
}
