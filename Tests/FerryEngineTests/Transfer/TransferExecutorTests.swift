import FerryEngine
import NIOCore
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("TransferExecutor", .timeLimit(.minutes(30)))
struct TransferExecutorTests {
    private func threadName() -> String {
        var name = [CChar](repeating: 0, count: 64)
        let file = open("/proc/thread-self/comm", O_RDONLY)
        defer { close(file) }
        let count = max(0, read(file, &name, 63))
        return String(decoding: name[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: "\n").joined()
    }

    @Test("TransferExecutor: tasks and their children run on its own threads, also after a suspension")
    func threads() async {
        let names = await withTaskExecutorPreference(TransferExecutor(threadCount: 2)) {
            await withTaskGroup(of: [String].self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let first = threadName()
                        await Task.yield()
                        return [first, threadName()]
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
            }
        }
        #expect(names == ["ferry-io"])
    }

    @Test("TransferExecutor: a job that blocks occupies only its own thread")
    func blocking() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let byte = await withTaskExecutorPreference(TransferExecutor(threadCount: 2)) {
            async let blocked: UInt8 = {
                var byte: UInt8 = 0
                return read(readEnd, &byte, 1) == 1 ? byte : 0
            }()
            async let other: Int = {
                var byte: UInt8 = 7
                return write(writeEnd, &byte, 1)
            }()
            _ = await other
            return await blocked
        }
        #expect(byte == 7)
        close(readEnd)
        close(writeEnd)
    }
}
