import Testing

@testable import FerryCore

@Suite("NameMemory")
struct NameMemoryTests {
    private let answer: NameMemory.Answer

    init() throws { answer = .addresses([try #require(IPAddress("192.0.2.1"))]) }

    @Test("NameMemory: a name is resolved once for all who ask, and known until its answer expires")
    func once() {
        var memory = NameMemory()
        #expect(memory.ask("h", at: .zero) == .resolve(generation: 0))
        #expect(memory.ask("h", at: .zero) == .wait)
        memory.resolved("h", answer, in: 0, at: .seconds(1))
        #expect(memory.ask("h", at: .seconds(60)) == .known(answer))
        #expect(memory.ask("h", at: .seconds(61)) == .resolve(generation: 0))
    }

    @Test("NameMemory: failures are known for a shorter time")
    func failures() {
        var memory = NameMemory()
        for (answer, seconds) in [(NameMemory.Answer.missing, 5), (.failed, 1)] {
            _ = memory.ask("\(answer)", at: .zero)
            memory.resolved("\(answer)", answer, in: 0, at: .zero)
            #expect(memory.ask("\(answer)", at: .seconds(seconds) - .milliseconds(1)) == .known(answer))
            #expect(memory.ask("\(answer)", at: .seconds(seconds)) == .resolve(generation: 0))
        }
    }

    @Test("NameMemory: a change of the network forgets everything, and the answers that are under way")
    func network() {
        var memory = NameMemory()
        _ = memory.ask("known", at: .zero)
        memory.resolved("known", answer, in: 0, at: .zero)
        _ = memory.ask("pending", at: .zero)
        memory.networkChanged()
        memory.resolved("pending", answer, in: 0, at: .zero)
        #expect(memory.ask("known", at: .zero) == .resolve(generation: 1))
        #expect(memory.ask("pending", at: .zero) == .resolve(generation: 1))
    }

    @Test("NameMemory: of more names than its capacity those that expire first are forgotten")
    func bounded() {
        var memory = NameMemory(capacity: 100)
        for number in 0..<1000 {
            _ = memory.ask("h\(number)", at: .milliseconds(number))
            memory.resolved("h\(number)", answer, in: 0, at: .milliseconds(number))
            #expect(memory.count <= 100)
        }
        #expect(memory.ask("h999", at: .seconds(1)) == .known(answer))
    }
}
