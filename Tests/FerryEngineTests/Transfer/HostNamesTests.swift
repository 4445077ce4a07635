import Dispatch
import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

@Suite("HostNames", .timeLimit(.minutes(30)))
struct HostNamesTests {
    /// A resolver that blocks for names that begin with "slow" until it is opened.
    private final class Resolver: Sendable {
        let asked = Mutex<[String]>([])
        private let gate = BlockingGate()

        func open() { gate.open() }

        func resolve(_ name: String) -> NameMemory.Answer {
            asked.withLock { $0.append(name) }
            if name.hasPrefix("slow") { gate.wait() }
            return name.hasPrefix("missing") ? .missing : .addresses([IPAddress("192.0.2.1")!])
        }
    }

    @Test("HostNames: a slow resolver for some names does not delay the others, and each name is resolved once")
    func slow() async {
        let resolver = Resolver()
        let names = HostNames(now: { .zero }) { resolver.resolve($0) }
        await withTaskGroup(of: NameMemory.Answer?.self) { group in
            for number in 0..<HostNames.mostThreads - 1 {
                for _ in 0..<3 { group.addTask { await names.answer(for: "slow\(number)") } }
            }
            while resolver.asked.withLock({ $0.count }) < HostNames.mostThreads - 1 { await Task.yield() }
            #expect(await names.addresses(of: "fast").count == 1)
            #expect(await names.answer(for: "missing") == .missing)
            #expect(await names.addresses(of: "fast").count == 1)
            resolver.open()
            for await answer in group { #expect(answer != nil) }
        }
        let asked = resolver.asked.withLock { $0 }
        #expect(asked.count == HostNames.mostThreads + 1)
        #expect(Set(asked).count == asked.count)
    }

    @Test("HostNames: a caller that is cancelled leaves at once, and the answer is kept")
    func cancelled() async {
        let resolver = Resolver()
        let names = HostNames(now: { .zero }) { resolver.resolve($0) }
        // owner: awaited below.
        let task = Task { await names.answer(for: "slow") }
        while resolver.asked.withLock({ $0.isEmpty }) { await Task.yield() }
        task.cancel()
        #expect(await task.value == nil)
        resolver.open()
        #expect(await names.answer(for: "slow") != nil)
        #expect(resolver.asked.withLock { $0 } == ["slow"])
    }

    @Test("HostNames: a caller leaves when its time is over, and the others wait on")
    func late() async {
        let resolver = Resolver()
        let names = HostNames(now: { .zero }) { resolver.resolve($0) }
        async let patient = names.answer(for: "slow")
        while resolver.asked.withLock({ $0.isEmpty }) { await Task.yield() }
        for _ in 0..<3 { #expect(await names.answer(for: "slow", within: .milliseconds(1)) == nil) }
        resolver.open()
        #expect(await patient != nil)
    }

    @Test("HostNames: look-ups that have been answered leave nothing behind until the time that they could have taken")
    func released() async throws {
        weak var released: HostNames?
        do {
            let names = HostNames(now: { .zero }) { _ in .addresses([]) }
            released = names
            for number in 0..<100 { _ = await names.answer(for: "name\(number)", within: .seconds(3600)) }
        }
        try await eventually { released == nil }
    }

    @Test("HostNames: the system's resolver knows localhost")
    func localhost() async {
        let addresses = await HostNames().addresses(of: "localhost")
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { PrivateAddress.kind(of: $0) != nil })
    }
}

/// Blocks threads until it is opened.
private final class BlockingGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() {
        semaphore.wait()
        // The next thread passes too.
        semaphore.signal()
    }
}
