import FerryCore
import Synchronization
import SystemPackage

/// The storage of one download's bytes: none yet, memory (small files), a part file with its journal, or a stream.
///
/// Connections write to disjoint ranges and may do so concurrently. The storage's lock is the innermost: no other
/// lock is taken under it.
final class Storage: Sendable {
    /// A part file and its journal, both locked by this process.
    struct Pair: Sendable {
        var paths: DownloadPaths
        var part: PartFile
        var journal: Journal
    }

    /// A small file that is not on disk yet.
    struct Small: Sendable {
        var bytes: [UInt8]
        var name: String
        var directory: FilePath
    }

    enum Place: Sendable {
        case none
        case small(Small)
        case pair(Pair)
        case stream(OutputStream)
    }

    private let place = Mutex(Place.none)

    var current: Place { place.withLock { $0 } }

    var pair: Pair? {
        if case .pair(let pair) = current { pair } else { nil }
    }

    func set(_ new: Place) { place.withLock { $0 = new } }

    /// Writes all bytes at the offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        let target: Place? = place.withLock { place in
            guard case .small(var small) = place else { return place }
            // Remove the payload during the change, so that the array is not copied.
            place = .none
            let end = Int(offset) + bytes.count
            if small.bytes.count == Int(offset) {
                small.bytes.append(contentsOf: bytes)
            } else {
                if small.bytes.count < end {
                    small.bytes.append(contentsOf: [UInt8](repeating: 0, count: end - small.bytes.count))
                }
                small.bytes.withUnsafeMutableBytes { buffer in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[Int(offset)..<end]).copyMemory(from: bytes)
                }
            }
            place = .small(small)
            return nil
        }
        switch target {
        case nil: return
        case .pair(let pair)?: try pair.part.write(bytes, at: offset)
        case .stream(let stream)?: try stream.write(bytes)
        case .small?, .none?: throw FileError(.write, "a file that has no place yet", kind: .closed)
        }
    }

    /// Replaces the small file by a pair and writes the bytes received so far to it. Concurrent writers wait.
    func spill(to pair: Pair) throws(FileError) {
        let result: Result<Void, FileError> = place.withLock { place in
            guard case .small(let small) = place else { return .success(()) }
            do throws(FileError) {
                try pair.part.write(small.bytes, at: 0)
                place = .pair(pair)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Returns bytes that were written, for samples and digests; `nil` if they cannot be read.
    func read(_ range: Range<ByteCount>) -> [UInt8]? {
        switch current {
        case .pair(let pair): return try? pair.part.read(range)
        case .small(let small):
            guard range.upperBound <= small.bytes.count else { return nil }
            return Array(small.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .none, .stream: return nil
        }
    }

    /// Closes files and locks; deletes nothing.
    func close() {
        let last = place.withLock { place in
            defer { place = .none }
            return place
        }
        if case .pair(let pair) = last {
            pair.journal.close()
            pair.part.close()
        }
    }
}
