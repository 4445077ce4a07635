import FerryTesting
import Synchronization
import Testing

@testable import FerryEngine

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A pipe; reading blocks the thread until something is written.
private final class Pipe: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        self.ends = (ends[0], ends[1])
    }
    deinit {
        close(ends.read)
        close(ends.write)
    }
    func block() {
        var byte: UInt8 = 0
        _ = read(ends.read, &byte, 1)
    }
    func release() {
        var byte: UInt8 = 7
        _ = write(ends.write, &byte, 1)
    }
}

/// Counts concurrent work.
private final class Tally: Sendable {
    private let counts = Mutex((now: 0, most: 0, total: 0))

    func began() -> Int {
        counts.withLock { counts in
            counts.now += 1
            counts.most = max(counts.most, counts.now)
            return counts.now
        }
    }
    func ended() {
        counts.withLock { counts in
            counts.now -= 1
            counts.total += 1
        }
    }
    var most: Int { counts.withLock { $0.most } }
    var total: Int { counts.withLock { $0.total } }
}

@Suite("File threads", .timeLimit(.minutes(30)))
struct FileThreadsTests {
    @Test("FileThreads: tasks run on threads of their own, children too, and return to them after a suspension")
    func tasks() async {
        let names = await withTaskExecutorPreference(FileThreads(core: 2, limit: 2)) {
            await withTaskGroup(of: [String].self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let first = ThreadLog.current
                        await Task.yield()
                        return [first, ThreadLog.current]
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
            }
        }
        #expect(names == ["ferry-io"])
    }

    @Test("FileThreads: work that blocks every thread does not stop the work that comes after it")
    func grows() async {
        let files = FileIO(LocalFileSystem(), threads: FileThreads(core: 1, limit: 8))
        let pipe = Pipe()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { await files.run { _ in pipe.block() } } }
            // Each returns only if a thread is started beside the blocked ones.
            for _ in 0..<5 { group.addTask { await files.run { _ in pipe.release() } } }
        }
    }

    @Test("FileThreads: threads that the system refuses leave the work to those that run", arguments: [0, 1, 3])
    func refused(most: Int) async {
        let started = Mutex(0)
        let threads = FileThreads(core: 6, limit: 64) { body in
            let isLeft = started.withLock { started in
                started += 1
                return started <= most
            }
            return isLeft && SystemThread.start("ferry-io", body) == 0
        }
        let files = FileIO(LocalFileSystem(), threads: threads)
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await files.run { _ in
                        _ = tally.began()
                        tally.ended()
                    }
                }
            }
        }
        #expect(tally.total == 100)
        #expect(tally.most <= max(1, most))
    }

    @Test("ThreadSupply: a probe finds as many threads as it is asked for, where there is no limit")
    func probe() { #expect(ThreadSupply.probe(upTo: 5) == 5) }

    @Test("FileThreads: no more threads than the limit run at once, however much waits")
    func limit() async {
        let files = FileIO(LocalFileSystem(), threads: FileThreads(core: 1, limit: 3))
        let tally = Tally()
        let pipe = Pipe()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<9 {
                group.addTask {
                    await files.run { _ in
                        // The third concurrent call releases all three.
                        if tally.began() == 3 { for _ in 0..<3 { pipe.release() } }
                        pipe.block()
                        tally.ended()
                    }
                }
            }
        }
        #expect(tally.most == 3)
        #expect(tally.total == 9)
    }

    @Test("FileIO.run: a typed error passes through; a cancelled task on the main actor waits for a file thread")
    @MainActor func cancelled() async {
        struct Refused: Error {}
        let files = FileIO(LocalFileSystem())
        let task = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            return await files.run { _ in ThreadLog.current }
        }
        #expect(await task.value == "ferry-io")
        await #expect(throws: Refused.self) { try await files.run { _ throws(Refused) in throw Refused() } }
    }
}
