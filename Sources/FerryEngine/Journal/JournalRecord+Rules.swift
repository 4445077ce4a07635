import FerryCore

extension JournalRecord {
    /// The rule that this record breaks; `nil` if it is valid. Checked before writing and after reading.
    var problem: String? {
        guard version >= 1 else { return "version \(version)" }
        guard DownloadID(rawValue: id).isOneLine else { return "an id of several lines" }
        guard Self.isBareName(name) else { return "the name is not a bare name" }
        if let totalBytes, !totalBytes.isSize { return "a total that cannot be" }
        if let length = identity.totalBytes, !length.isSize { return "a length that cannot be" }
        if let publishing {
            guard Self.isBareName(publishing.name) else { return "the announced name is not a bare name" }
            guard publishing.length.isSize else { return "a length is announced that cannot be" }
        }
        for path in [moving?.part, movedFrom].compactMap(\.self)
        where !path.utf8.hasPrefix("/") || !path.utf8.hasSuffix(DownloadPaths.partSuffix) || path.utf8.contains(0) {
            return "a place to move to that is none"
        }
        guard createdAt.isFinite, events.allSatisfy({ $0.time.isFinite }) else { return "a time that is none" }
        return claimProblem
    }

    /// Claims must be half-open, ascending, not adjacent, and within the total length.
    private var claimProblem: String? {
        var end: ByteCount = -1
        for claim in claimed {
            guard claim.count == 2 else { return "a claim that is not two numbers" }
            guard claim[0] >= 0, claim[0] < claim[1] else { return "a claim that holds nothing" }
            guard claim[0] > end else { return "claims that touch or are not in order" }
            end = claim[1]
        }
        guard end < .bound else { return "a claim beyond any file" }
        if let totalBytes, end > totalBytes { return "a claim beyond the end" }
        return nil
    }

    private static func isBareName(_ name: String) -> Bool { DownloadPaths.isBareName(name) }
}
