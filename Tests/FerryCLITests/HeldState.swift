import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import SystemPackage
import Testing

/// What a directory holds of one download after a crash, judged by what must be true at any moment.
struct HeldState {
    /// Bytes that may be believed: those of the finished file, or those that the journal claims.
    var bytes: Int64
    var isComplete: Bool

    /// Looks at `name`, `name.part` and `name.part.ferry`, and records an issue for everything that must not be:
    /// a final name with anything but the whole file, a claim on bytes that are not the server's, an unknown name.
    ///
    /// - Parameter context: What to say with an issue: the seed, the number of the kill.
    init(_ name: String, of resource: Resource, in place: Workplace, context: String) {
        bytes = 0
        isComplete = false
        let names = place.names
        let known: Set = [name, "\(name).part", "\(name).part.ferry"]
        // A journal that grows is written under another name first; nothing else may lie about.
        #expect(Set(names).isSubset(of: known), "\(context): \(names)")
        if names.contains(name) {
            isComplete = true
            bytes = resource.size
            #expect(
                resource.source.compare(file: place.path(name), size: resource.size) == .equal,
                "\(context): the final name shows bytes that are not the file's")
        }
        guard names.contains("\(name).part.ferry") else { return }
        let record: JournalRecord
        do {
            record = try Journal.read(at: FilePath(place.path("\(name).part.ferry")), fileSystem: LocalFileSystem())
        } catch {
            // Killed before the first record was whole: nothing is claimed.
            return
        }
        let claimed = record.claimed.compactMap { $0.count == 2 && $0[0] < $0[1] ? $0[0]..<$0[1] : nil }
        #expect(claimed.count == record.claimed.count, "\(context): \(record.claimed)")
        guard !isComplete else { return }
        bytes = claimed.reduce(0) { $0 + Int64($1.count) }
        guard !claimed.isEmpty else { return }
        let comparison = resource.source.compare(file: place.path("\(name).part"), ranges: claimed)
        #expect(comparison == .equal, "\(context): claimed \(claimed): \(comparison)")
    }
}
