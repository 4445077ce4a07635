import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Both stores against each other", .timeLimit(.minutes(30)))
struct StoreModelTests {
    @Test("Store: memory and catalogue are equal after random changes and reopening", arguments: 1...6)
    func sameContents(seed: UInt64) async throws {
        try await StoreBench.withDirectory { directory in
            var dice = SeededGenerator(seed: seed)
            let memory = MemoryStore()
            var catalogue = try await StoreBench.open(directory).catalogue
            var complaints = 0
            for step in 0..<150 {
                let batch = try (0..<Int.random(in: 0...4, using: &dice)).map { _ in
                    try change(&dice, directory + "/files")
                }
                var codes: [DownloadError.Code?] = []
                var events: [[NumberedEvent]] = []
                for store in [memory, catalogue] as [any DownloadStore] {
                    do throws(DownloadError) {
                        events.append(try await store.commit(batch))
                        codes.append(nil)
                    } catch { codes.append(error.code) }
                }
                #expect(codes.first == codes.last, "seed \(seed), step \(step)")
                #expect(events.first == events.last, "seed \(seed), step \(step)")
                complaints += codes.first.map { $0 == nil ? 0 : 1 } ?? 0
                if step % 50 == 49 {
                    await catalogue.close()
                    catalogue = try await StoreBench.open(directory).catalogue
                }
            }
            try await expectSame(memory, catalogue, "seed \(seed)")
            #expect(complaints > 0, "no batch was refused: the sequence proves little")
            await catalogue.close()
        }
    }

    private func expectSame(_ one: any DownloadStore, _ other: any DownloadStore, _ comment: Comment) async throws {
        let rows = try await one.page(.all, offset: 0, limit: 1000)
        #expect(try await other.page(.all, offset: 0, limit: 1000) == rows, comment)
        #expect(try await one.load() == other.load(), comment)
        #expect(try await one.totals() == other.totals(), comment)
        #expect(
            try await one.pendingEvents(after: 0, limit: 1000) == other.pendingEvents(after: 0, limit: 1000), comment)
        for row in rows {
            #expect(try await one.history(of: row.id) == other.history(of: row.id), comment)
        }
        let requests = rows.map(\.request)
        #expect(try await one.duplicates(of: requests) == other.duplicates(of: requests), comment)
    }

    private func change(_ dice: inout SeededGenerator, _ downloads: String) throws -> StoreChange {
        func id(_ dice: inout SeededGenerator) -> DownloadID {
            DownloadID(rawValue: "\(Int.random(in: 0..<12, using: &dice))")
        }
        func key(_ dice: inout SeededGenerator) -> QueueKey {
            QueueKey(priority: .random(in: -1...1, using: &dice), position: .random(in: 0..<4, using: &dice))
        }
        func date(_ dice: inout SeededGenerator) -> Date {
            StoreBench.date(Double(Int.random(in: 0..<100, using: &dice)))
        }
        switch Int.random(in: 0..<12, using: &dice) {
        case 0...2:
            var row = try StoreBench.fullRow(id(&dice).rawValue, downloads: downloads)
            row.key = key(&dice)
            if Bool.random(using: &dice) { row.request = try StoreBench.request(to: .file("/x/\(row.key.position)")) }
            return .insert([row])
        case 3: return .remove([id(&dice), id(&dice)])
        case 4: return .keys([.init(id(&dice), key(&dice)), .init(id(&dice), key(&dice))])
        case 5:
            let ending: Ending.Outcome =
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: .completed(StoreBench.finished(downloads + "/z\(Int.random(in: 0..<9, using: &dice))"), nil)
                case 1: .failed(StoreBench.error)
                default: .cancelled
                }
            return .end(id(&dice), Ending(ending, at: date(&dice), isNumbered: .random(using: &dice)))
        case 6: return .acknowledge(.random(in: 1..<20, using: &dice))
        case 7...8: return .record(DownloadEvent(id: id(&dice), date: date(&dice), kind: .note("\(dice.next())")))
        default:
            let fields: [RowField] = [
                .state(StoreBench.states.randomElement(using: &dice) ?? .paused), .label("\(dice.next())"),
                .attempts(.random(in: 0..<9, using: &dice), retryAt: date(&dice)), .part(downloads + "/p"),
                .progress(completedBytes: .random(in: 0..<99, using: &dice), totalBytes: nil),
                .name("n\(dice.next())", path: nil), .userInfo(["k": "\(dice.next())"]),
            ]
            return .update(id(&dice), fields.filter { _ in Bool.random(using: &dice) })
        }
    }
}
