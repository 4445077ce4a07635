import Ferry
import FerryTerminal
import Foundation
import HTTPTypes
import Synchronization
import Testing

@Suite("PlannedItems") struct PlannedItemsTests {
    @Test("PlannedItems: a list is read piece by piece as its entries are requested")
    func piecewise() throws {
        let reads = Mutex<[Int]>([])
        var world = PlanningWorld.test()
        let line = Array("http://h/f\n".utf8)
        let lineCount = 100
        world.openList = { path throws(UsageError) in
            ListFile(name: path) { offset in
                reads.withLock { $0.append(offset) }
                return offset < lineCount * line.count ? line : []
            }
        }
        var items = try GetPlanner.plan(.of { $0.files.lists = ["l"] }, world: world).items.makeIterator()
        #expect(reads.withLock(\.self).isEmpty)
        for number in 1..<lineCount {
            #expect(items.next()?.request != nil)
            // An entry ends with the next URL line.
            #expect(reads.withLock { $0.count } == number + 1)
        }
        #expect(items.next()?.request != nil)
        #expect(items.next() == nil)
        #expect(reads.withLock(\.self) == (0...lineCount).map { $0 * line.count })
    }

    @Test("PlannedItems: a list that cannot be read to its end says so, and the next list goes on")
    func unreadable() throws {
        var world = PlanningWorld.test()
        world.openList = { path throws(UsageError) in
            ListFile(name: path) { offset throws(UsageError) in
                guard offset == 0 else { throw UsageError("Input/output error") }
                // Options of the last entry may be among the bytes that cannot be read.
                return Array("http://h/\(path)\nhttp://h/last\n".utf8)
            }
        }
        let plan = try GetPlanner.plan(.of { $0.files.lists = ["a", "b"] }, world: world)
        #expect(plan.items.compactMap(\.request).flatMap(\.sources).map(\.text) == ["http://h/a", "http://h/b"])
        #expect(plan.badLines == ["a", "b"].map { "\($0): cannot be read to its end: Input/output error" })
    }

    @Test(
        "PlannedItems: what is no list is said in one line",
        arguments: [
            ([UInt8]("http://h/f\n".utf8.flatMap { [$0, 0] }), "the list is in UTF-16; save it as UTF-8"),
            ([0x89, 0x50, 0x4E, 0x00, 0x0A], "its bytes are not text"), (nil, "l: cannot be read: Is a directory"),
        ] as [([UInt8]?, String)])
    func others(bytes: [UInt8]?, message: String) throws {
        var world = PlanningWorld.test()
        world.openList = { path throws(UsageError) in
            ListFile(name: path) { offset throws(UsageError) in
                guard let bytes else { throw UsageError("Is a directory") }
                return offset == 0 ? bytes : []
            }
        }
        let plan = try GetPlanner.plan(.of { $0.files.lists = ["l"] }, world: world)
        let lines = plan.badLines
        #expect(lines.count == 1 && lines[0].utf8.contains(message), "\(lines)")
    }
}
