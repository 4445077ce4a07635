import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

/// The sets of a soak, and the requests to the daemon about them.
struct SoakSets: Sendable {
    /// What has become of sets.
    struct Counts: Sendable {
        var ends: [SoakSet.End: Int] = [:]
        /// Files that sets have brought, each compared with its server's.
        var files = 0

        static func += (counts: inout Counts, other: Counts) {
            counts.ends.merge(other.ends, uniquingKeysWith: +)
            counts.files += other.files
        }
    }

    let serve: ServeProcess
    let server: OriginServer
    let place: Workplace
    /// The directory that the sets are below.
    private var directory: String { place.path("sets") }

    init(_ serve: ServeProcess, _ server: OriginServer, in place: Workplace) {
        (self.serve, self.server, self.place) = (serve, server, place)
    }

    /// Adds sets. Throws when there is no daemon any more.
    func begin(_ sets: [SoakSet.Served]) async throws {
        for set in sets { _ = try await serve.send(.addSet, body: set.request(server, in: directory)) }
    }

    /// Adds a set, or syncs one that is listed.
    private func add(_ set: SoakSet.Served) async throws -> FileSet {
        let data = try await serve.ask(.addSet, body: set.request(server, in: directory))
        return try JSONCoding.decode(FileSet.self, from: data)
    }

    /// Syncs sets twice, whether they are listed or not, compares each file, and removes them.
    func settle(_ sets: [SoakSet.Served]) async throws -> Counts {
        try await withThrowingTaskGroup(of: (SoakSet.End, Int).self) { group in
            for set in sets {
                group.addTask {
                    let files = try await self.settle(set)
                    return (set.kind.end, files)
                }
            }
            var counts = Counts()
            for try await (end, files) in group {
                counts.ends[end, default: 0] += 1
                counts.files += files
            }
            return counts
        }
    }

    /// Returns the number of files that the set has brought.
    private func settle(_ set: SoakSet.Served) async throws -> Int {
        let id = try await add(set).id
        var files = 0
        if set.kind.end == .removed {
            _ = try await wait(for: id) { $0 == .syncing }
        } else {
            files += try await check(set, id)
            let changed = set.kind.change(set, on: server)
            _ = try await serve.ask(.resumeSet, id: id)
            files += try await check(changed, id)
        }
        _ = try await serve.ask(.removeSet, id: id)
        // A set without a list has made no directory.
        try? FileManager.default.removeItem(atPath: directory + "/" + set.id)
        return files
    }

    /// Waits for the end of a set, and checks its state, its files and what `ferry verify` says of them.
    private func check(_ served: SoakSet.Served, _ id: String) async throws -> Int {
        let set = try await wait(for: id) { !$0.isActive }
        let end: FileSet.State =
            switch served.kind.end {
            case .complete: .complete
            case .incomplete: .incomplete
            case .failed, .removed: .failed
            }
        #expect(set.state == end, "\(served.id): \(set)")
        #expect(set.done == served.files.count, "\(served.id): \(set)")
        let root = directory + "/" + served.id
        for (path, file) in served.files {
            let comparison = file.comparison(with: root + "/" + path)
            #expect(comparison == .equal, "\(served.id): \(path): \(comparison)")
        }
        #expect(others(than: served, in: root) == [], "\(served.id)")
        guard end != .failed else { return 0 }
        let verified = try await FerryProcess.run(
            ["verify", root, "--json"], in: place, environment: ServeProcess.environment(place))
        let states = try objects(verified.text).filter { $0["kind"] as? String == "verified" }
        #expect(states.filter { $0["state"] as? String == "intact" }.count == served.files.count, "\(verified)")
        #expect(states.allSatisfy { ["intact", "missing"].contains($0["state"] as? String) }, "\(verified)")
        return served.files.count
    }

    /// The files in a directory under names of files, other than those of the set.
    private func others(than served: SoakSet.Served, in root: String) -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        return paths.filter { path in
            let name = path.split(separator: "/").last ?? ""
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory)
            let isOwn = name.hasPrefix(".") || name.hasSuffix(".part") || name.hasSuffix(".part.ferry")
            return !isDirectory.boolValue && !isOwn && name != "ferry-manifest.jsonl" && served.files[path] == nil
        }
    }

    private func wait(for id: String, _ fits: (FileSet.State) -> Bool) async throws -> FileSet {
        var found: FileSet?
        try await eventually(every: SoakClient.interval) {
            let set = try JSONCoding.decode(FileSet.self, from: try await serve.ask(.showSet, id: id))
            if fits(set.state) { found = set }
            return found != nil
        }
        return try #require(found)
    }
}
