import FerryServerTesting
import Testing

@testable import FerryServer

@Suite("The allocator's free memory")
struct FreeMemoryTests {
    /// A process with memory in use and free memory that the system counts as its own.
    private final class Process: Sendable {
        let used = Guarded<Double>(0)
        let free = Guarded<Double>(0)
        let returns = Guarded(0)

        func memory() -> FreeMemory {
            FreeMemory(
                resident: { self.used.value + self.free.value },
                giveBack: {
                    self.returns.value += 1
                    self.free.value = 0
                })
        }
    }

    @Test("It is given back once the process has grown, during the work and after it, and not while the process rests")
    func growth() async {
        let process = Process()
        var memory = process.memory()
        func look(used: Double, free: Double, returns: Int) async {
            (process.used.value, process.free.value) = (used, free)
            await memory.look()
            #expect(process.returns.value == returns)
        }
        let step = FreeMemory.step
        await look(used: 10 * step, free: step, returns: 0)
        await look(used: 10 * step, free: 2 * step, returns: 0)
        // Work, of which most is still in use.
        await look(used: 20 * step, free: step, returns: 1)
        // After it there is no growth, but much that is free.
        await look(used: 11.5 * step, free: 9 * step, returns: 2)
        await look(used: 11.5 * step, free: 0, returns: 2)
        // What is in use stays.
        await look(used: 13 * step, free: 0, returns: 3)
        await look(used: 13 * step, free: 0, returns: 3)
    }

    @Test("Nothing is given back where the system does not tell how much the process has")
    func unknown() async {
        var memory = FreeMemory(resident: { nil }, giveBack: { Issue.record("given back") })
        await memory.look()
        await memory.look()
    }
}
