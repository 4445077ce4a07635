import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Kill at each disk call", .timeLimit(.minutes(30)))
struct FallTests {
    /// The end of a run of `ferry-app fall`.
    private enum End: Sendable, Equatable { case killed, completed, other(Int32) }

    private static func run(_ n: Int, _ url: String, _ directory: String, syncs: Bool) async throws -> End {
        let words = [
            try BuiltProgram.url("ferry-app").path, "fall", "\(n)", url, directory, syncs ? "sync" : "nosync",
        ]
        let program = try RunningProgram(words, error: .standardError)
        switch await program.end() {
        case .killed(by: SIGKILL): return .killed
        case .exited(0): return .completed
        case let end: return .other(end.code)
        }
    }

    @Test(
        "Kill at each disk call: claimed bytes are right, and the next run resumes from them (B1)",
        arguments: [(1_200_003, true), (1_200_003, false), (40_001, true)] as [(Int64, Bool)])
    func everyCall(size: Int64, syncs: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size, seed: 9)
            shop.server.serve("/a", resource)
            shop.server.setServerRate(8 << 20)
            // Two runs at a time, for odd and for even call numbers, until there is no such call; each number has a
            // directory of its own.
            let kills = try await withThrowingTaskGroup(of: Int?.self) { group in
                for first in 1...2 {
                    group.addTask {
                        for n in stride(from: first, through: 400, by: 2) {
                            let directory = shop.path("\(n)")
                            try FileManager.default.createDirectory(
                                atPath: directory, withIntermediateDirectories: true)
                            let end = try await Self.run(n, shop.server.url("/a"), directory, syncs: syncs)
                            if case .other(let status) = end { Issue.record("call \(n): it ended with \(status)") }
                            try await Self.check(shop, resource, directory, "call \(n)", syncs: syncs)
                            if end == .completed { return (n - first) / 2 }
                        }
                        return nil
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let all = try kills.reduce(0) { $0 + (try #require($1, "400 calls were not enough")) }
            #expect(all > (size < 1 << 20 ? 3 : 20))
        }
    }

    /// Verifies the state after the kill, resumes, and verifies the file.
    private static func check(
        _ shop: Workshop, _ resource: Resource, _ directory: String, _ context: String, syncs: Bool
    ) async throws {
        let (final, part) = (directory + "/a", directory + "/a.part")
        var claimed: Int64 = 0
        if FileManager.default.fileExists(atPath: final) {
            #expect(resource.source.compare(file: final, size: resource.size) == .equal, "\(context)")
            claimed = resource.size
        } else if let record = try? Journal.read(at: FilePath(part + ".ferry"), fileSystem: LocalFileSystem()) {
            let ranges = record.claimed.map { $0[0]..<$0[1] }
            claimed = ranges.reduce(0) { $0 + Int64($1.count) }
            if !ranges.isEmpty {
                #expect(resource.source.compare(file: part, ranges: ranges) == .equal, "\(context): \(ranges)")
            }
        }
        let manager = shop.manager()
        var request = try shop.request("/a") { $0.destination = .directory(directory) }
        request.syncsToDisk = syncs
        request.maxConnections = 1
        let outcome = try await shop.outcome(of: manager, request)
        #expect(try outcome.file.path == final, "\(context)")
        #expect(resource.source.compare(file: final, size: resource.size) == .equal, "\(context)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a"], "\(context)")
        if claimed > 0, claimed < resource.size { #expect(outcome.resumedAt == claimed, "\(context)") }
    }
}
