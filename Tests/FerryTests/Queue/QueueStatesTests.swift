import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("States of a queue entry")
struct QueueStatesTests {
    private static let rests: [QueueEntry.Rest] = [.parked, .queued, .waiting(until: .seconds(1))]
    private static let names = ["parked", "queued", "waiting"]

    private static let states: [QueueEntry.State] =
        rests.map { .resting($0) } + [.running(Run()), .leaving(Run())]
        + rests.flatMap { [.stopping(Run(), then: $0), .changing(nil, then: $0), .changing(Run(), then: $0)] }

    private static let facts: [QueueEntry.Fact] =
        rests.flatMap { [.list($0), .rest($0)] } + [.wake, .start(Run()), .stop, .ended, .hold, .settle, .remove]

    private static func name(_ rest: QueueEntry.Rest) -> String {
        switch rest {
        case .parked: "parked"
        case .queued: "queued"
        case .waiting: "waiting"
        }
    }

    private static func name(_ state: QueueEntry.State?) -> String {
        switch state {
        case .resting(let rest): name(rest)
        case .running: "running"
        case .stopping(_, let rest): "stopping(\(name(rest)))"
        case .changing(nil, let rest): "changing(\(name(rest)))"
        case .changing(.some, let rest): "changing(run, \(name(rest)))"
        case .leaving: "leaving"
        case nil: "gone"
        }
    }

    private static func name(_ fact: QueueEntry.Fact) -> String {
        switch fact {
        case .list(let rest): "list(\(name(rest)))"
        case .rest(let rest): "rest(\(name(rest)))"
        case .wake: "wake"
        case .start: "start"
        case .stop: "stop"
        case .ended: "ended"
        case .hold: "hold"
        case .settle: "settle"
        case .remove: "remove"
        }
    }

    private static func pattern(_ text: String, x: String, r: String) -> String {
        text.replacing(/\bx\b/, with: x).replacing(/\br\b/, with: r)
    }

    /// The words between backticks of a cell; the cell itself when it has none.
    private static func words(_ cell: some StringProtocol) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        if parts.count == 1 { return [cell.trimmingCharacters(in: .whitespaces)] }
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// The transitions in the document: the next state for a state and a fact.
    private static func documented() throws -> [String: String] {
        let text = try Repository.text("docs/queue-states.md")
        var changes: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|")
            guard cells.count == 4 else { continue }
            for x in names {
                for r in names {
                    for state in words(cells[0]) {
                        for fact in words(cells[1]) {
                            let key = pattern("\(state) on \(fact)", x: x, r: r)
                            let result = pattern(words(cells[2])[0], x: x, r: r)
                            #expect(changes[key] == nil || changes[key] == result, "\(key) is listed twice")
                            changes[key] = result
                        }
                    }
                }
            }
        }
        return changes
    }

    @Test("QueueEntry: docs/queue-states.md has exactly the transitions of the code")
    func table() throws {
        let documented = try Self.documented()
        var made: [String: String] = [:]
        for state in Self.states {
            for fact in Self.facts {
                let (old, new) = (Self.name(state), Self.name(state.after(fact)))
                let key = "\(old) on \(Self.name(fact))"
                if old != new { made[key] = new }
                #expect(documented[key, default: old] == new, "\(key)")
            }
        }
        #expect(documented.filter { !$0.key.hasPrefix($0.value + " on ") } == made)
    }

    @Test("QueueEntry: a run stays in its entry until it has ended, whatever else happens")
    func runs() {
        for state in Self.states {
            for fact in Self.facts {
                if case .ended = fact { continue }
                if case .start = fact { continue }
                #expect(state.after(fact)?.run === state.run, "\(Self.name(state)) on \(Self.name(fact))")
            }
        }
    }
}
