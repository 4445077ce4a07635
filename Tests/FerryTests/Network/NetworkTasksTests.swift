import FerryTesting
import Synchronization
import Testing

@testable import Ferry

@Suite("Tasks of the network", .timeLimit(.minutes(30)))
struct NetworkTasksTests {
    @Test("Network tasks: the lookups of a network are cancelled by the next, which keeps its own")
    func networks() async throws {
        let tasks = NetworkTasks()
        let door = Door()
        let cancelled = Mutex<[String: Bool]>([:])
        func lookUp(_ names: [(name: String, network: Int)]) {
            var left = names[...]
            tasks.lookUp({ left.popFirst() }) { name, network in
                await door.pass()
                cancelled.withLock { $0["\(name)\(network)"] = Task.isCancelled }
            }
        }
        lookUp([("a", 1), ("b", 1)])
        // A task that has seen the new network is before the one that has told of it.
        lookUp([("a", 2)])
        tasks.follow(2, isOnline: false)
        tasks.follow(1, isOnline: false)
        try await eventually { cancelled.withLock { $0["a1"] == true && $0["b1"] == true } }
        door.open()
        try await eventually { cancelled.withLock { $0["a2"] } == false }
        await tasks.close()
        // None begins after the end.
        lookUp([("c", 3)])
        await tasks.close()
        #expect(cancelled.withLock { $0["c3"] } == nil)
    }

    @Test("Network tasks: the end of a doubt is cancelled by a later network that is online, not by an earlier one")
    func doubts() async throws {
        let tasks = NetworkTasks()
        let door = Door()
        let cancelled = Mutex<[Bool]>([])
        tasks.follow(2, isOnline: false)
        tasks.limitDoubt {
            await door.pass()
            cancelled.withLock { $0.append(Task.isCancelled) }
        }
        // A task that has seen the former network is behind the one that has told of the next.
        tasks.follow(1, isOnline: true)
        door.open()
        try await eventually { cancelled.withLock { $0 } == [false] }

        let closed = Door()
        tasks.limitDoubt {
            await closed.pass()
            cancelled.withLock { $0.append(Task.isCancelled) }
        }
        tasks.follow(3, isOnline: true)
        try await eventually { cancelled.withLock { $0 } == [false, true] }
        await tasks.close()
    }
}
