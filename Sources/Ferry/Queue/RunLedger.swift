import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A small file beside the catalogue that records which downloads are running, and in which runs the process died.
///
///     begin(run): one `pwrite` marks its record as running
///     end(run), for any reason: the record is cleared
///     open(list): each record still marked as running counts one more death
///
/// The file is not synced, because a written page survives the process. After a power cut no death is counted, because records
/// contain the boot identifier. Thus a run costs two small writes and no commit.
///
/// Invariants: a download has at most one record; a record counts consecutive crashes and is kept until a run of the download
/// ends normally.
final class RunLedger: Sendable {
    /// After this many consecutive crashes, a download is no longer started automatically.
    static let maxCrashes = 3

    private struct Record {
        var key: Key
        var crashes: Int
        var isRunning: Bool
    }

    private struct State {
        var records: [Record?] = []
        var places: [Key: Int] = [:]
        var free: [Int] = []
        /// Set at a requested exit; runs that begin later are not recorded as running.
        var isOver = false
    }

    private let file: any File
    private let boot: String
    private let state = Mutex(State())

    private init(file: any File, boot: String) {
        self.file = file
        self.boot = boot
    }

    /// Opens or creates the file, and counts a crash for each download that was running when the last process ended. Blocks.
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
            let crashes = min(old.crashes + (died ? 1 : 0), Self.maxCrashes)
            if crashes > 0 { put(Record(key: Key(old.key), crashes: crashes, isRunning: false)) }
        }
    }

    /// The number of consecutive processes that died while they were running the download.
    func crashes(of id: DownloadID) -> Int {
        state.withLock { state in state.places[Key(id)].flatMap { state.records[$0]?.crashes } ?? 0 }
    }

    /// Records the start of a run. Blocks.
    func begin(_ id: DownloadID) {
        put(Record(key: Key(id), crashes: crashes(of: id), isRunning: true))
    }

    /// Clears the record after a run that the process survived, or for a download that no longer runs. Blocks.
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

    /// Clears the records of all other downloads. Blocks.
    func keep(only ids: [DownloadID]) {
        let gone = Set(state.withLock { $0.places.keys }).subtracting(ids.map { Key($0) })
        for key in gone { end(key) }
    }

    /// Clears the records of all running downloads at a requested exit. Blocks.
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
            // A thread may begin a run after `endAll`.
            let record = Record(key: new.key, crashes: new.crashes, isRunning: new.isRunning && !state.isOver)
            let place = state.places[record.key] ?? state.free.popLast() ?? state.records.count
            if place == state.records.count { state.records.append(nil) }
            state.records[place] = record
            state.places[record.key] = place
            write(encoded(record), at: place)
        }
    }

    private func encoded(_ record: Record) -> [UInt8] {
        LedgerRecord(key: record.key.bytes, crashes: record.crashes, isRunning: record.isRunning, boot: boot).encoded
    }

    /// A failed write loses a count, which does not justify failing the download.
    private func write(_ bytes: [UInt8], at place: Int) {
        try? file.write(bytes, at: ByteCount(place * LedgerRecord.bytes))
    }

    /// The maximum number of bytes that are read. They contain far more records than there are concurrent runs.
    private static let mostBytes = ByteCount(1 << 22)

    /// The key of a record: the identifier, truncated if it is very long.
    private struct Key: Hashable {
        let bytes: [UInt8]
        init(_ id: DownloadID) { self.init(Array(id.rawValue.utf8)) }
        init(_ bytes: [UInt8]) { self.bytes = Array(bytes.prefix(LedgerRecord.mostKeyBytes)) }
    }
}

/// A process that returns from `main` or calls `exit` does not count as crashed, even if its managers were not shut down.
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

/// One record of a ``RunLedger``: 512 bytes that contain a line of text, padded with newlines.
///
///     89abcdef runs 2 4f1c…-… 13 0123456789abc
///
/// The fields are the CRC-32 of the rest, whether the download is running, the number of processes that died while running it,
/// the boot identifier of that count, and the download's identifier preceded by its length in bytes.
struct LedgerRecord: Sendable, Hashable {
    /// The size of a record; a record is written with one call and does not cross a page.
    static let bytes = 512
    /// The padding of records.
    static let blank = UInt8(ascii: "\n")
    /// The maximum size of an identifier in bytes.
    static let mostKeyBytes = 384

    var key: [UInt8]
    var crashes: Int
    var isRunning: Bool
    var boot: String

    init(key: [UInt8], crashes: Int, isRunning: Bool, boot: String) {
        self.key = key
        self.crashes = crashes
        self.isRunning = isRunning
        self.boot = String(boot.filter { $0 != " " && $0 != "\n" }.prefix(64))
    }

    /// Decodes a record; `nil` for a blank or truncated record, and for a record with a wrong checksum.
    init?(_ record: ArraySlice<UInt8>) {
        let words = record.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: false)
        guard words.count == 6, let start = words.dropFirst().first?.startIndex,
            let count = Self.number(words[4]), count <= Self.mostKeyBytes, words[5].count >= count
        else { return nil }
        let end = words[5].startIndex + count
        guard Self.number(words[0], radix: 16) == Int(CRC32.checksum(record[start..<end])),
            let crashes = Self.number(words[2]), crashes <= 1000
        else { return nil }
        let word = String(decoding: words[1], as: UTF8.self)
        guard word == "runs" || word == "waits" else { return nil }
        self.init(
            key: Array(words[5].prefix(count)), crashes: crashes, isRunning: word == "runs",
            boot: String(decoding: words[3], as: UTF8.self))
    }

    private static func number(_ text: ArraySlice<UInt8>, radix: Int = 10) -> Int? {
        guard text.count <= 8, text.allSatisfy({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) else {
            return nil
        }
        return Int(String(decoding: text, as: UTF8.self), radix: radix)
    }

    /// The padded record.
    var encoded: [UInt8] {
        let line = "\(isRunning ? "runs" : "waits") \(crashes) \(boot) \(key.count) "
        let sealed = Array(line.utf8) + key
        let text = String(CRC32.checksum(sealed), radix: 16) + " "
        let bytes = Array(text.utf8) + sealed
        return bytes + [UInt8](repeating: Self.blank, count: max(0, Self.bytes - bytes.count))
    }
}
