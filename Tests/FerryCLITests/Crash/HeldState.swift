import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import SystemPackage
import Testing

/// The bytes of one download in a directory after a crash, checked for the invariants of any moment.
struct HeldState {
    /// Bytes that count: those of the finished file, or those that the journal claims.
    private(set) var bytes: Int64 = 0
    private(set) var isComplete = false
    /// The version of the bytes, by number; `nil` when there are none.
    private(set) var version: Int?

    private let versions: [Resource]
    private let place: Workplace
    private let context: String

    /// Checks `name`, `name.part`, `name.part.ferry` and the backup pair, and records an issue for every violation: a
    /// final name with anything but a whole file of one version, a claim on bytes that are not the server's or of
    /// several versions, an unknown name.
    ///
    /// - Parameters:
    ///   - versions: The versions that the server has offered under this name so far, of equal length.
    ///   - context: The text for an issue: the seed, the number of the run.
    init(_ name: String, of versions: [Resource], in place: Workplace, context: String) {
        (self.versions, self.place, self.context) = (versions, place, context)
        let (part, journal) = ("\(name).part", "\(name).part.ferry")
        let names = Set(place.names)
        // A growing journal is written under another name first, which may stay for a while.
        var known: Set = [name, part, journal, journal + ".new"]
        if versions.count > 1 { known.formUnion([part + ".old", journal + ".old"]) }
        #expect(names.isSubset(of: known), "\(context): \(names)")
        if names.contains(name) {
            isComplete = true
            bytes = versions.last?.size ?? 0
            version = versions.indices.last {
                versions[$0].source.compare(file: place.path(name), size: versions[$0].size) == .equal
            }
            #expect(version != nil, "\(context): the final name shows bytes that are not the whole file's")
        }
        // A second backup pair replaces the first name by name: in between, the journal there is of the previous file,
        // as its inode shows.
        if names.contains(part + ".old"), names.contains(journal + ".old"), isPair(part + ".old", journal + ".old") {
            _ = claims(of: journal + ".old", on: part + ".old")
        }
        guard names.contains(journal), !isComplete, let held = claims(of: journal, on: part) else { return }
        (bytes, version) = (held.bytes, held.version)
    }

    /// The same check for a file that never changes.
    init(_ name: String, of resource: Resource, in place: Workplace, context: String) {
        self.init(name, of: [resource], in: place, context: context)
    }

    /// Whether a journal is about this part file: it names its inode.
    private func isPair(_ part: String, _ journal: String) -> Bool {
        let (disk, part) = (LocalFileSystem(), FilePath(place.path(part)))
        guard let record = try? Journal.read(at: FilePath(place.path(journal)), fileSystem: disk) else { return true }
        return (try? disk.status(part, followingLinks: false).inode) == record.partInode
    }

    /// The claims of a journal on a part file, after a comparison of the bytes.
    private func claims(of journal: String, on part: String) -> (bytes: Int64, version: Int)? {
        let record: JournalRecord
        do {
            record = try Journal.read(at: FilePath(place.path(journal)), fileSystem: LocalFileSystem())
        } catch {
            // Killed before the first record was whole: nothing is claimed.
            return nil
        }
        let claimed = record.claimed.compactMap { $0.count == 2 && $0[0] < $0[1] ? $0[0]..<$0[1] : nil }
        #expect(claimed.count == record.claimed.count, "\(context): \(record.claimed)")
        // A kill between the two renames of the backup: a journal without its file claims nothing.
        guard !claimed.isEmpty, place.names.contains(part) else { return nil }
        var comparison = DeterministicBytes.FileComparison.equal
        for (number, resource) in versions.enumerated().reversed() {
            // A strong ETag in the record names its version.
            if let etag = record.identity.etag, resource.etag != etag { continue }
            comparison = resource.source.compare(file: place.path(part), ranges: claimed)
            if comparison == .equal { return (claimed.reduce(0) { $0 + Int64($1.count) }, number) }
        }
        Issue.record("\(context): claimed \(claimed) of \(record.identity.etag ?? "no ETag"): \(comparison)")
        return nil
    }
}
