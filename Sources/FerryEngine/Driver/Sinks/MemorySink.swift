import FerryCore
import Synchronization
import SystemPackage

/// A small file that is published whole. It has no part file unless it takes too long.
final class MemorySink: Sink {
    /// The wanted name.
    let name: String
    let directory: FilePath
    private let state: Mutex<State>

    private struct State {
        var bytes: [UInt8] = []
        /// The number of writes so far.
        var writes = 0
        /// The part file that contains the bytes now.
        var successor: PartSession?

        mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
            writes += 1
            if bytes.count == offset { return bytes.append(contentsOf: new) }
            let end = offset + new.count
            if bytes.count < end { bytes.append(contentsOf: [UInt8](repeating: 0, count: end - bytes.count)) }
            bytes.withUnsafeMutableBytes { buffer in
                UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<end]).copyMemory(from: new)
            }
        }
    }

    /// - Parameter reserve: The number of bytes for which memory is reserved.
    init(name: String, directory: FilePath, reserve: Int) {
        (self.name, self.directory) = (name, directory)
        var first = State()
        first.bytes.reserveCapacity(reserve)
        state = Mutex(first)
    }

    /// The bytes so far; empty after the move to a part file.
    var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// The part file that contains the bytes now; `nil` before the move.
    var successor: PartSession? { state.withLock { $0.successor } }

    var isRewritable: Bool { true }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        let successor = state.withLock { state in
            if state.successor == nil { state.write(bytes, at: Int(offset)) }
            return state.successor
        }
        return try successor?.write(bytes, at: offset, disk) ?? true
    }

    /// Moves the bytes to a part file, which also receives later writes. Bytes that arrive during the move go to memory first.
    func move(to session: PartSession, _ disk: Disk) throws(FileError) {
        var written: Int?
        while true {
            let bytes: [UInt8]? = state.withLock { state in
                guard state.writes == written else {
                    written = state.writes
                    return state.bytes
                }
                (state.successor, state.bytes) = (session, [])
                return nil
            }
            guard let bytes else { return }
            try session.write(bytes, at: 0, disk)
        }
    }

    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? {
        let (bytes, successor) = state.withLock { ($0.bytes, $0.successor) }
        if let successor { return successor.read(range, disk) }
        guard range.upperBound <= bytes.count else { return nil }
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    func checkpoint(_ statement: JournalStatement, _ disk: Disk) -> Bool { false }

    func retract(to statement: JournalStatement, _ disk: Disk) {}

    func setAside(_ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk) -> Prepared.Backup? { nil }

    func discard(_ disk: Disk) {}

    func close(_ disk: Disk) {}
}
