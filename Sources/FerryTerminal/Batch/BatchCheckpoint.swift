import Ferry
import FerryCore

/// The line of a results file from which the next run continues after a crash: the cursor, and the identity of the lists.
struct BatchCheckpoint: Sendable, Hashable, Codable {
    /// The beginning of a checkpoint line. No result begins with it, because members are sorted.
    static let mark = Array("{\"checkpoint\":".utf8)
    /// The maximum number of entries in a checkpoint.
    static let mostEntries = 1 << 20

    /// The first bytes of each list; `nil` for a pipe, whose bytes may not have been written yet.
    var heads: [ListHead?]
    /// The digest of the line of ``last`` and the bytes before it; see ``ListHead/near(_:in:)``.
    var near: String?
    /// The part of the hosts; see ``HostShard``.
    var shard: String?
    var last: ListPlace?
    var open: [ListPlace]
    var ended: [ListPlace.Key]?
    var completed: Int
    var failed: Int
    /// `nil` for none, as in files of earlier versions.
    var unusable: Int?
    var exitCodes: [Int32]

    init(_ cursor: BatchCursor, of lists: [ListFile], heads: [ListHead?], shard: HostShard?) {
        self.heads = heads
        self.shard = shard?.description
        last = cursor.last
        near = cursor.last.flatMap { ListHead.near($0, in: lists) }
        open = cursor.open.values.sorted { $0.key < $1.key }
        ended = cursor.ended.isEmpty ? nil : cursor.ended.sorted()
        (completed, failed) = (cursor.counts.completed, cursor.counts.failed)
        unusable = cursor.counts.unusable == 0 ? nil : cursor.counts.unusable
        exitCodes = cursor.counts.codes.map(\.rawValue).sorted()
    }

    /// The line, without a line feed.
    var line: String { JSONLine.of(["checkpoint": self]).text }

    /// The cursor; `nil` if the numbers cannot be those of a run.
    var cursor: BatchCursor? {
        guard [completed, failed, unusable ?? 0].allSatisfy({ 0..<1 << 60 ~= $0 }), open.count <= Self.mostEntries,
            ended?.count ?? 0 <= Self.mostEntries,
            (open + [last].compactMap(\.self)).allSatisfy({ $0.list < heads.count })
        else { return nil }
        var counts = BatchCursor.Counts()
        (counts.completed, counts.failed, counts.unusable) = (completed, failed, unusable ?? 0)
        counts.codes = Set(exitCodes.compactMap(ExitCode.init(rawValue:)))
        return BatchCursor(last: last, open: open, ended: ended ?? [], counts: counts)
    }

    /// Whether the checkpoint was written for these lists. Lines may have been appended to them since.
    func isOf(_ lists: [ListFile], shard: HostShard?) -> Bool {
        guard heads.count == lists.count, self.shard == shard?.description else { return false }
        for (head, list) in zip(heads, lists) {
            if let head, ListHead(list, bytes: head.bytes) != head { return false }
        }
        return last.map { ListHead.near($0, in: lists) == near } ?? true
    }
}

/// The first bytes of a list, by which it is recognised.
struct ListHead: Sendable, Hashable, Codable {
    /// The number of bytes.
    var bytes: Int
    /// Their digest, in hexadecimal digits.
    var digest: String

    private static let mostBytes = 4096
    /// The maximum length of a line whose end is part of ``near(_:in:)``.
    private static let mostLineBytes = 1 << 16

    /// - Parameter bytes: The number of bytes; `nil` for all available ones, at most 4096.
    init?(_ list: ListFile, bytes: Int? = nil) {
        guard !list.isPipe, 0...Self.mostBytes ~= bytes ?? 0,
            let start = list.bytes(from: 0, count: bytes ?? Self.mostBytes)
        else { return nil }
        self.bytes = start.count
        digest = SHA256Text.hex(start)
    }

    /// Returns the digest of a place's line and the bytes before it; `nil` if they cannot be read.
    static func near(_ place: ListPlace, in lists: [ListFile]) -> String? {
        guard lists.indices.contains(place.list), !lists[place.list].isPipe else { return nil }
        let start = max(0, place.offset - mostBytes)
        guard let bytes = lists[place.list].bytes(from: start, count: place.offset - start + mostLineBytes) else {
            return nil
        }
        let line = bytes.dropFirst(place.offset - start)
        let end = line.firstIndex(of: 0x0A) ?? bytes.endIndex
        return SHA256Text.hex(bytes[..<end])
    }
}

extension ListFile {
    /// Returns the bytes of a range, fewer at the end of the list; `nil` if it cannot be read.
    fileprivate func bytes(from offset: Int, count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let piece = try? read(at: offset + bytes.count) else { return nil }
            if piece.isEmpty { break }
            bytes += piece
        }
        return Array(bytes.prefix(count))
    }
}
