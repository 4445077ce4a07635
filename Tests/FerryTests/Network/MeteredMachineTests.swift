import Testing

@testable import Ferry

@Suite struct MeteredMachineTests {
    @Test func `MeteredMachine: it asks one question at a time, and one more for all changes meanwhile`() {
        var machine = MeteredMachine()
        #expect(machine.networkChanged(at: .zero) == [.ask])
        #expect(!machine.isSettled)
        #expect(machine.networkChanged(at: .zero) == [])
        #expect(machine.networkChanged(at: .zero) == [])
        #expect(machine.answered(nil, at: .zero) == [.ask], "the answer is older than the last change")
        #expect(machine.answered(nil, at: .zero) == [])
        #expect(machine.isSettled)
    }

    @Test func `MeteredMachine: it listens once there is an answer`() {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .zero)
        #expect(machine.answered(.guessNo, at: .zero) == [.listen])
        #expect(machine.answer == .guessNo)
        #expect(machine.networkChanged(at: .zero) == [.ask])
        #expect(machine.answered(.guessNo, at: .zero) == [], "it listens already")
        #expect(machine.wake == nil)
    }

    @Test func `MeteredMachine: without NetworkManager it does not listen`() {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .zero)
        #expect(machine.answered(nil, at: .zero) == [])
        #expect(machine.answer == nil)
        #expect(machine.wake == nil)
        #expect(!machine.asksOften)
    }

    @Test func `MeteredMachine: a signal is newer than the answer to an earlier question`() {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .zero)
        _ = machine.answered(.guessNo, at: .zero)
        _ = machine.networkChanged(at: .zero)
        #expect(machine.heard(.metered(.yes)) == [])
        #expect(machine.answer == .yes)
        #expect(machine.answered(.guessNo, at: .zero) == [.ask], "the old answer does not count")
        #expect(machine.answer == .yes)
        _ = machine.answered(.yes, at: .zero)
        #expect(machine.heard(.gone) == [])
        #expect(machine.answer == nil)
        #expect(machine.heard(.ask) == [.ask])
        #expect(machine.heard(.other) == [])
    }

    @Test func `MeteredMachine: without a listener it asks again once, some time after each change`() throws {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .seconds(1))
        #expect(machine.answered(.no, at: .seconds(1)) == [.listen])
        machine.cannotListen(at: .seconds(1))
        #expect(machine.asksOften)
        #expect(try #require(machine.wake) > .seconds(1))
        #expect(machine.timeHasCome() == [.ask])
        #expect(machine.wake == nil)
        #expect(machine.answered(.no, at: .seconds(4)) == [])
        #expect(machine.wake == nil, "once for each change: it does not poll")
        _ = machine.networkChanged(at: .seconds(9))
        #expect(try #require(machine.wake) > .seconds(9))
    }

    @Test func `MeteredMachine: a listener that ends at once is started again at the next change`() {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .zero)
        #expect(machine.answered(.no, at: .zero) == [.listen])
        #expect(machine.heard(.ask) == [.ask])
        machine.listenerEnded()
        #expect(machine.answered(.no, at: .zero) == [])
        #expect(machine.networkChanged(at: .zero) == [.ask])
        #expect(machine.answered(.no, at: .zero) == [.listen])
    }

    @Test func `MeteredMachine: after each time-out it keeps the answer and asks again later, until the seventh`() {
        var machine = MeteredMachine()
        _ = machine.networkChanged(at: .zero)
        _ = machine.answered(.yes, at: .zero)
        _ = machine.networkChanged(at: .zero)
        var waits: [Duration] = []
        for _ in 0..<6 {
            #expect(machine.timedOut(at: .zero) == [])
            #expect(machine.isSettled && machine.answer == .yes)
            waits.append(machine.wake ?? .zero)
            #expect(machine.timeHasCome() == [.ask])
        }
        #expect(waits == [2, 4, 8, 16, 32, 64].map { .seconds($0) })
        #expect(machine.timedOut(at: .zero) == [])
        #expect(machine.answer == nil && machine.wake == nil, "it does not ask for ever")
    }
}
