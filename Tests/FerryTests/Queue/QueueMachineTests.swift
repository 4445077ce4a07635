import FerryCore
import Foundation
import Testing

@testable import Ferry

@Suite("QueueMachine")
struct QueueMachineTests {
    @Test("QueueMachine: five downloads resumed in another order run in that order, and a lower limit stops the last")
    func workedExample() {
        var queue = QueueMachine(limit: 5)
        for name in ["08", "09", "10", "11", "12"] { queue.join(id(name)) }
        #expect(queue.decide(at: .zero).start == ids("08", "09", "10", "11", "12"))

        for name in ["08", "09", "10", "11", "12"] {
            queue.leave(id(name))
            queue.stopped(id(name))
        }
        #expect(queue.decide(at: .zero) == QueueMachine.Decision())
        for name in ["10", "11", "12", "08", "09"] { queue.join(id(name)) }
        #expect(queue.decide(at: .zero).start == ids("10", "11", "12", "08", "09"))

        queue.set(limit: 2)
        let fallen = queue.decide(at: .zero)
        #expect(fallen.stop == ids("12", "08", "09").map { .init($0, .slot) })
        #expect(fallen.start == [])
        for name in ["08", "09", "12"] { queue.stopped(id(name)) }
        #expect(queue.decide(at: .zero).start == [])
        for name in ["12", "08", "09"] { #expect(queue.hindrance(of: id(name)) == .slot) }

        queue.ended(id("10"))
        #expect(queue.decide(at: .zero).start == ids("12"))
    }

    @Test("QueueMachine: a raised limit starts the next downloads at once")
    func raisedLimit() {
        var queue = queue(limit: 1, "a", "b", "c")
        #expect(queue.decide(at: .zero).start == ids("a"))
        queue.set(limit: 3)
        #expect(queue.decide(at: .zero).start == ids("b", "c"))
    }

    @Test("QueueMachine: a slot stays taken until its run has ended, even after a pause and a resume")
    func slotUntilStopped() {
        var queue = queue(limit: 1, "a", "b")
        _ = queue.decide(at: .zero)
        queue.leave(id("a"))
        #expect(queue.decide(at: .zero).start == [])
        #expect(queue.hindrance(of: id("a")) == nil && queue.run(of: id("a")) != nil)
        queue.join(id("a"))
        #expect(queue.decide(at: .zero).start == [])
        queue.stopped(id("a"))
        // The download joined again, so it is behind the other one.
        #expect(queue.decide(at: .zero).start == ids("b"))
        queue.ended(id("b"))
        #expect(queue.decide(at: .zero).start == ids("a"))
    }

    @Test("QueueMachine: a higher priority gets the next free slot and stops no running download")
    func priorityDoesNotPreempt() {
        var queue = queue(limit: 1, "a", "b")
        _ = queue.decide(at: .zero)
        queue.join(id("urgent"), priority: .high)
        #expect(queue.decide(at: .zero) == QueueMachine.Decision())
        queue.ended(id("a"))
        #expect(queue.decide(at: .zero).start == ids("urgent"))
    }

    @Test("QueueMachine: dates follow a wall clock that is set, a retry only forward, and other waits do not")
    func wallClock() {
        let noon = Date(timeIntervalSinceReferenceDate: 0)
        func queue() -> QueueMachine {
            var queue = QueueMachine(limit: 9)
            let waits: [(String, QueueEntry.Due?)] = [
                ("start", .start(noon + 100)), ("retry", .retry(noon + 100)), ("space", nil),
            ]
            for (name, due) in waits {
                queue.enter(id(name), key: queue.takeKey(.normal), as: .waiting(until: .seconds(100), for: due))
            }
            return queue
        }
        var forward = queue()
        forward.follow(wall: noon + 3600, at: .seconds(10))
        #expect(Set(forward.wake(at: .seconds(10))) == Set(ids("start", "retry")))
        #expect(forward.decide(at: .seconds(10)).nextWake == .seconds(100))
        var back = queue()
        back.follow(wall: noon - 3600, at: .seconds(10))
        #expect(Set(back.wake(at: .seconds(100))) == Set(ids("retry", "space")))
        #expect(back.decide(at: .seconds(100)).nextWake == .seconds(3710))
        // The clock is set right again.
        back.follow(wall: noon + 120, at: .seconds(120))
        #expect(back.wake(at: .seconds(120)) == ids("start"))
    }

    @Test("QueueMachine: a back-off frees the slot, keeps the place and sets the next wake-up")
    func backOff() {
        var queue = queue(limit: 1, "a", "b", "c")
        _ = queue.decide(at: .zero)
        queue.take(.rest(.waiting(until: .seconds(10))), of: id("a"))
        // The run is still ending.
        #expect(queue.decide(at: .seconds(1)) == .init())
        queue.stopped(id("a"))
        let second = queue.decide(at: .seconds(1))
        #expect(second == .init(start: ids("b"), nextWake: .seconds(10)))
        #expect(queue.hindrance(of: id("a")) == nil)
        #expect(queue.decide(at: .seconds(10)) == .init())
        queue.ended(id("b"))
        #expect(queue.decide(at: .seconds(10)).start == ids("a"))
    }

    @Test("QueueMachine: a wake-up ends a back-off, and the download starts")
    func tryNow() {
        var queue = QueueMachine(limit: 1)
        queue.join(id("a"), notBefore: .seconds(60))
        #expect(queue.decide(at: .zero) == .init(nextWake: .seconds(60)))
        queue.take(.wake, of: id("a"))
        #expect(queue.decide(at: .zero) == .init(start: ids("a")))
    }

    @Test("QueueMachine: a download that is changed during its run keeps its slot until the change is over")
    func changing() {
        var queue = QueueMachine(limit: 1)
        for name in ["a", "b", "c"] { queue.join(id(name)) }
        #expect(queue.decide(at: .zero).start == ids("a"))
        _ = queue.hold(id("a"))
        _ = queue.hold(id("b"))
        queue.stopped(id("a"))
        #expect(queue.decide(at: .zero) == .init())
        queue.take(.settle, of: id("a"))
        #expect(queue.decide(at: .zero).start == ids("a"))
        // A change that pauses gives the slot away.
        _ = queue.hold(id("a"))
        queue.stopped(id("a"))
        queue.leave(id("a"))
        #expect(queue.decide(at: .zero).start == ids("c"))
        // A queued download that is changed has no slot.
        #expect(queue.occupiedCount == 1)
    }

    @Test("QueueMachine: downloads that the network forbids stop, and start again in order when it allows them")
    func network() {
        var queue = QueueMachine(limit: 2)
        queue.join(id("a"), needs: NetworkNeeds(allowsMetered: false))
        queue.join(id("local"), needs: NetworkNeeds(isLocal: true))
        queue.join(id("b"))
        #expect(queue.decide(at: .zero).start == ids("a", "local"))

        queue.set(network: NetworkStatus(isOnline: true, isMetered: true))
        #expect(queue.decide(at: .zero).stop == [.init(id("a"), .network)])
        queue.stopped(id("a"))
        #expect(queue.hindrance(of: id("a")) == .network(.meteredNotAllowed))
        #expect(queue.decide(at: .zero).start == ids("b"))

        queue.set(network: .offline)
        #expect(queue.decide(at: .zero).stop == [.init(id("b"), .network)])
        queue.stopped(id("b"))
        #expect(queue.decide(at: .zero) == .init())
        #expect(queue.isRunning(id("local")))

        queue.set(network: .online)
        #expect(queue.decide(at: .zero).start == ids("a"))
    }

    @Test("QueueMachine: downloads held only by the network are reported in order, up to the free slots")
    func passedOver() {
        var queue = QueueMachine(
            limit: 2, network: NetworkSnapshot(status: NetworkStatus(isOnline: true, isMetered: true)))
        for name in ["a", "b", "c"] { queue.join(id(name), needs: NetworkNeeds(allowsMetered: false)) }
        #expect(queue.newlyBarred() == ids("a", "b"))
        #expect(queue.newlyBarred() == [])
        queue.join(id("first"), priority: .high)
        #expect(queue.newlyBarred() == [])
        #expect(queue.decide(at: .zero).start == ids("first"))
        queue.leave(id("a"))
        queue.leave(id("b"))
        #expect(queue.newlyBarred() == ids("c"))
        queue.join(id("a"), needs: NetworkNeeds(allowsMetered: false))
        queue.ended(id("first"))
        #expect(queue.newlyBarred() == ids("a"))
        // Once they may run, their next wait is reported again.
        queue.set(network: .online)
        #expect(queue.newlyBarred() == [])
        queue.set(network: NetworkStatus(isOnline: true, isMetered: true))
        #expect(queue.newlyBarred() == ids("c", "a"))
        queue.set(network: .online)
        #expect(queue.decide(at: .zero).start == ids("c", "a"))
    }

    @Test("QueueMachine: a download whose start time has come is reported once, and waits for a slot")
    func woken() {
        var queue = queue(limit: 1, "a")
        _ = queue.decide(at: .zero)
        queue.join(id("later"), notBefore: .seconds(5))
        #expect(queue.wake(at: .seconds(4)) == [])
        #expect(queue.wake(at: .seconds(5)) == ids("later"))
        #expect(queue.wake(at: .seconds(5)) == [])
        #expect(queue.hindrance(of: id("later")) == .slot)
        #expect(queue.decide(at: .seconds(5)) == .init())
    }

    @Test("QueueMachine: changed network needs apply at once to running and waiting downloads")
    func needsChange() {
        var queue = QueueMachine(
            limit: 2, network: NetworkSnapshot(status: NetworkStatus(isOnline: true, isMetered: true)))
        queue.join(id("a"))
        queue.join(id("b"), needs: NetworkNeeds(allowsMetered: false))
        #expect(queue.decide(at: .zero).start == ids("a"))
        queue.setNeeds(NetworkNeeds(allowsMetered: false), of: id("a"))
        queue.setNeeds(NetworkNeeds(), of: id("b"))
        #expect(queue.decide(at: .zero) == .init(start: ids("b"), stop: [.init(id("a"), .network)]))
    }

    @Test("QueueMachine: restored downloads keep their keys, and a new one joins behind every listed position")
    func restore() {
        var queue = QueueMachine(limit: 1)
        queue.note(position: 900)
        queue.enter(id("b"), key: QueueKey(priority: 0, position: 20), as: .queued)
        queue.enter(id("a"), key: QueueKey(priority: 0, position: 10), as: .queued)
        queue.enter(id("later"), key: QueueKey(priority: 5, position: 30), as: .waiting(until: .seconds(5)))
        #expect(queue.join(id("c")).position > 900)
        #expect(queue.decide(at: .zero) == .init(start: ids("a"), nextWake: .seconds(5)))
        queue.ended(id("a"))
        #expect(queue.decide(at: .seconds(5)).start == ids("later"))
    }

    @Test("QueueMachine: positions at the largest Int64 do not trap")
    func lastPositionOfAll() {
        var queue = QueueMachine(limit: 2, lastPosition: .max)
        #expect(queue.join(id("a")).position == .max)
        #expect(queue.join(id("b")).position == .max)
        #expect(queue.decide(at: .zero).start == ids("a", "b"))
    }

    @Test("QueueMachine: a move decides the next start, and an unqueued download gets a key without being queued")
    func moves() {
        var queue = queue(limit: 1, "a", "b", "c", "d")
        _ = queue.decide(at: .zero)
        var listed = ["a", "b", "c", "d"].compactMap { name in
            (queue.entries[id(name)]?.key).map { QueuePlace(id: id(name), key: $0) }
        }
        let moved = queue.move(listed[3], to: .front, among: listed)
        #expect(moved.map(\.id) == ids("d"))
        listed = [moved[0]] + listed.dropLast()
        let second = queue.move(listed[3], to: .after(listed[0].key), among: listed)
        #expect(second.map(\.id) == ids("c"))
        for expected in ["d", "c", "b"] {
            let running = ["a", "d", "c"].first { queue.isRunning(id($0)) }
            if let running { queue.ended(id(running)) }
            #expect(queue.decide(at: .zero).start == ids(expected))
        }
        // A paused download gets a new key without being queued.
        let paused = QueuePlace(id: id("paused"), key: QueueKey(priority: 0, position: 1))
        #expect(queue.move(paused, to: .back, among: [paused] + listed).map(\.id) == ids("paused"))
        #expect(queue.hindrance(of: id("paused")) == nil)
    }

    @Test("QueueMachine: of 100,000 downloads that have ended nothing stays in the queue")
    func many() {
        var queue = QueueMachine(limit: 3)
        for number in 0..<100_000 { queue.join(id("\(number)")) }
        #expect(queue.decide(at: .zero).start == ids("0", "1", "2"))
        for number in 0..<99_999 { queue.ended(id("\(number)")) }
        #expect(queue.decide(at: .zero).start == ids("99999"))
        #expect(queue.activeCount == 1)
        #expect(queue.occupiedCount == 1)
    }

    private func queue(limit: Int, _ names: String...) -> QueueMachine {
        var queue = QueueMachine(limit: limit)
        for name in names { queue.join(id(name)) }
        return queue
    }
}

private func id(_ name: String) -> DownloadID { DownloadID(rawValue: name) }
private func ids(_ names: String...) -> [DownloadID] { names.map(id) }
