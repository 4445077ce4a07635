import FerryCore
import FerryEngine
import Foundation
import Synchronization
import SystemPackage

/// Which downloads run now, and under which the process has died: a small file beside the catalogue.
///
///     a run begins: its record says so; one `pwrite`
///     a run ends, however: its record goes
///     the list is opened: who is said to run died with the process, once more
///
/// Nothing is synced. A page that was written outlives its process, and of a power cut, which is the fault of no
/// download, nothing is counted: records are of one run of the system. So a run costs two small writes and no commit.
///
/// Invariants: a download has one record at most; a record says how many processes in a row died under its run, and is
/// kept until a run of it ends in another way.
final class RunLedger: Sendable {
    /// After so many deaths in a row a download is not run any more by itself.
    static let mostDeaths = 3

    private struct Record {
        var key: Key
        var deaths: Int
        var isRunning: Bool
    }

    private struct State {
        var records: [Record?] = []
        var places: [Key: Int] = [:]
        var free: [Int] = []
        /// The process is about to end because it was asked to: no run is cut by a death any more.
        var isOver = false
    }

    private let file: any File
    private let boot: String
    private let state = Mutex(State())

    private init(file: any File, boot: String) {
        self.file = file
        self.boot = boot
    }

    /// Opens or makes it, and counts the deaths of those that ran when the last process ended. Blocks.
    static func open(at path: FilePath, fileSystem: any FileSystem) throws(FileError) -> RunLedger {
        let file: any File
        do throws(FileError) {
            file = try fileSystem.open(path, .readWrite)
        } catch  where error.kind == .notFound {
            file = try fileSystem.create(path, mode: 0o600)
        }
        let ledger = RunLedger(file: file, boot: fileSystem.bootID ?? "")
        try ledger.read()
        RunLedger.endAtExit(ledger)
        return ledger
    }

    private func read() throws(FileError) {
        let length = min(try file.status().length, Self.mostBytes)
        let bytes = length > 0 ? try file.read(0..<length) : []
        try file.truncate(to: 0)
        for start in stride(from: 0, to: bytes.count, by: LedgerRecord.bytes) {
            let end = min(bytes.count, start + LedgerRecord.bytes)
            guard let old = LedgerRecord(bytes[start..<end]) else { continue }
            let died = old.isRunning && old.boot == boot
            let deaths = min(old.deaths + (died ? 1 : 0), Self.mostDeaths)
            if deaths > 0 { put(Record(key: Key(old.key), deaths: deaths, isRunning: false)) }
        }
    }

    /// How many processes in a row died while they ran it.
    func deaths(of id: DownloadID) -> Int {
        state.withLock { state in state.places[Key(id)].flatMap { state.records[$0]?.deaths } ?? 0 }
    }

    /// A run begins. Blocks.
    func begin(_ id: DownloadID) {
        put(Record(key: Key(id), deaths: deaths(of: id), isRunning: true))
    }

    /// Its run has ended, and the process lives; or it is not run any more. Blocks.
    func end(_ id: DownloadID) { end(Key(id)) }

    private func end(_ key: Key) {
        state.withLock { state in
            if let place = state.places[key] { remove(key, at: place, &state) }
        }
    }

    private func remove(_ key: Key, at place: Int, _ state: inout State) {
        state.places[key] = nil
        state.records[place] = nil
        state.free.append(place)
        write([UInt8](repeating: LedgerRecord.blank, count: LedgerRecord.bytes), at: place)
    }

    /// What does not belong to these downloads goes. Blocks.
    func keep(only ids: [DownloadID]) {
        let gone = Set(state.withLock { $0.places.keys }).subtracting(ids.map { Key($0) })
        for key in gone { end(key) }
    }

    /// The process ends because it was asked to: all runs have ended in another way than by its death. Blocks.
    func endAll() {
        state.withLock { state in
            state.isOver = true
            for (place, record) in state.records.enumerated() {
                if let record, record.isRunning { remove(record.key, at: place, &state) }
            }
        }
    }

    private func put(_ new: Record) {
        state.withLock { state in
            // Begun by a thread that has not heard that the process ends.
            let record = Record(key: new.key, deaths: new.deaths, isRunning: new.isRunning && !state.isOver)
            let place = state.places[record.key] ?? state.free.popLast() ?? state.records.count
            if place == state.records.count { state.records.append(nil) }
            state.records[place] = record
            state.places[record.key] = place
            write(encoded(record), at: place)
        }
    }

    private func encoded(_ record: Record) -> [UInt8] {
        LedgerRecord(key: record.key.bytes, deaths: record.deaths, isRunning: record.isRunning, boot: boot).encoded
    }

    /// A disk that refuses loses a count: that is no reason not to download.
    private func write(_ bytes: [UInt8], at place: Int) {
        try? file.write(bytes, at: ByteCount(place * LedgerRecord.bytes))
    }

    /// The most that is read: far more runs than there can be at once.
    private static let mostBytes = ByteCount(1 << 22)

    /// What a record names a download by: its identifier, of a very long one the beginning.
    private struct Key: Hashable {
        let bytes: [UInt8]
        init(_ id: DownloadID) { self.init(Array(id.rawValue.utf8)) }
        init(_ bytes: [UInt8]) { self.bytes = Array(bytes.prefix(LedgerRecord.mostKeyBytes)) }
    }
}

/// A process that returns from `main`, or calls `exit`, does not die under its runs, though nobody has shut its managers
/// down.
extension RunLedger {
    private struct Weak { weak var ledger: RunLedger? }
    private static let all = Mutex<[Weak]>([])
    private static let hook: Void = {
        atexit { RunLedger.endAllLedgers() }
        return ()
    }()

    fileprivate static func endAtExit(_ ledger: RunLedger) {
        hook
        all.withLock { all in
            all.removeAll { $0.ledger == nil }
            all.append(Weak(ledger: ledger))
        }
    }

    private static func endAllLedgers() {
        for ledger in all.withLock({ $0.compactMap(\.ledger) }) { ledger.endAll() }
    }
}
