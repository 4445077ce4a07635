import FerryCore
import FerryTesting
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite(.timeLimit(.minutes(5))) struct BroadcastTests {
    @Test func `Broadcast: a stream begins with the first value, has the newest sent, and ends with the last`() async {
        let numbers = Broadcast<Int>()
        var readers = [numbers.stream { (1, isLast: false) }.makeAsyncIterator()]
        #expect(await readers[0].next() == 1)
        numbers.send { nil }
        for number in 2...4 { numbers.send { (number, isLast: false) } }
        #expect(await readers[0].next() == 4)
        readers.append(numbers.stream { (nil, isLast: false) }.makeAsyncIterator())
        numbers.send { (5, isLast: true) }
        for index in readers.indices {
            #expect(await readers[index].next() == 5)
            #expect(await readers[index].next() == nil)
        }
        #expect(numbers.isEmpty)
        var late = numbers.stream { (6, isLast: true) }.makeAsyncIterator()
        #expect(await late.next() == 6)
        #expect(await late.next() == nil)
    }

    @Test func `Broadcast: a stream whose reader is gone is left, and finish ends the others`() async {
        let numbers = Broadcast<Int>()
        do {
            let reader = Task { for await _ in numbers.stream(beginningWith: { (1, isLast: false) }) {} }
            while numbers.isEmpty { await Task.yield() }
            reader.cancel()
            await reader.value
        }
        #expect(numbers.isEmpty)
        var reader = numbers.stream { (nil, isLast: false) }.makeAsyncIterator()
        numbers.finish()
        #expect(await reader.next() == nil)
    }

    /// While a task is being cancelled its state is locked, and the stream that it reads is left; to send wakes that task.
    @Test func `Broadcast: sending while its readers are being cancelled does not end in a deadlock`() async throws {
        let numbers = Broadcast<Int>()
        let isOver = Mutex(false)
        onOwnThread("sender") {
            var number = 0
            while !isOver.withLock({ $0 }) {
                number += 1
                numbers.send { (number, isLast: false) }
            }
        }
        // owner: this test, which fails while it does not end.
        Task.detached {
            for _ in 0..<3000 {
                await withTaskGroup { group in
                    group.addTask { for await _ in numbers.stream(beginningWith: { (0, isLast: false) }) {} }
                    while numbers.isEmpty { await Task.yield() }
                    group.cancelAll()
                }
            }
            isOver.withLock { $0 = true }
        }
        try await eventually { isOver.withLock { $0 } }
        #expect(numbers.isEmpty)
    }
}
