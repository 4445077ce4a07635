import FerryCore
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Damaged journals", .timeLimit(.minutes(30)))
struct JournalDamageTests {
    let path: FilePath = "/d/a.part.ferry"
    let older = testRecord(1)
    let newer = testRecord(2)

    /// Sequence 4 in the first slot, 5 in the second; or the reverse.
    private func image(newerFirst: Bool) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 10, count: 8192)
        for (record, sequence) in [(older, UInt64(newerFirst ? 3 : 4)), (newer, newerFirst ? 4 : 5)] {
            let payload = try JournalText.bytes(record, path: path)
            let encoded = JournalSlot(version: 1, sequence: sequence, slotBytes: 4096, payload: payload).encode()
            let start = JournalSlot.index(of: sequence) * 4096
            bytes.replaceSubrange(start..<(start + encoded.count), with: encoded)
        }
        return bytes
    }

    private func read(_ bytes: [UInt8]) -> Result<JournalRecord, JournalError> {
        do throws(JournalError) { return .success(try JournalImage(bytes, path: path).record) } catch {
            return .failure(error)
        }
    }

    @Test("Journal: one flipped byte anywhere gives the whole newer or older record (B7)", arguments: [false, true])
    func flips(newerFirst: Bool) throws {
        let bytes = try image(newerFirst: newerFirst)
        #expect(read(bytes) == .success(newer))
        var seen: Set<JournalRecord> = []
        for index in bytes.indices {
            for mask in [UInt8(0x01), 0x20, 0xff] {
                var changed = bytes
                changed[index] ^= mask
                let record = try read(changed).get()
                seen.insert(record)
                #expect(record == newer || record == older, "byte \(index)")
            }
        }
        #expect(seen == [newer, older])
    }

    @Test("Journal: a file cut at any byte gives a whole record or an error (B7)", arguments: [false, true])
    func cuts(newerFirst: Bool) throws {
        let bytes = try image(newerFirst: newerFirst)
        for length in bytes.indices {
            switch read(Array(bytes[..<length])) {
            case .success(let record): #expect(record == newer || record == older, "length \(length)")
            case .failure(let error):
                #expect(length == 0 ? error == .empty(path) : [.torn(path), .foreign(path)].contains(error))
            }
        }
    }

    @Test("Journal: a write torn at any byte falls back to the older record (B1)", arguments: [false, true])
    func tornWrites(newerFirst: Bool) throws {
        let bytes = try image(newerFirst: newerFirst)
        // The next record overwrites the older one; power fails after any number of its bytes, in either order.
        let next = testRecord(7)
        let sequence: UInt64 = newerFirst ? 5 : 6
        let encoded = JournalSlot(
            version: 1, sequence: sequence, slotBytes: 4096, payload: try JournalText.bytes(next, path: path)
        ).encode()
        let start = JournalSlot.index(of: sequence) * 4096
        for count in 0...encoded.count {
            var forwards = bytes
            forwards.replaceSubrange(start..<(start + count), with: encoded[..<count])
            var backwards = bytes
            backwards.replaceSubrange(
                (start + encoded.count - count)..<(start + encoded.count), with: encoded.suffix(count))
            for changed in [forwards, backwards] {
                let record = try read(changed).get()
                #expect(record == newer || record == next, "\(count) bytes")
                if count == encoded.count { #expect(record == next) }
            }
        }
    }

    @Test("Journal: random bytes never give a wrong record and never trap", arguments: [1, 2, 3, 4])
    func random(seed: UInt64) throws {
        var state = seed
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        let whole = try image(newerFirst: false)
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<(1 + next() % 40) { bytes[Int(next() % 8192)] = UInt8(next() % 256) }
            if case .success(let record) = read(bytes) { #expect(record == newer || record == older) }
            let noise = (0..<Int(next() % 300)).map { _ in UInt8(next() % 256) }
            #expect(throws: JournalError.self) { try read(noise).get() }
            #expect(throws: JournalError.self) { try read(Array("ferry-journal 1 seq=".utf8) + noise).get() }
        }
    }

    @Test(
        "Journal: a slot header with absurd numbers is refused",
        arguments: [
            "ferry-journal 1 seq=0 slot=4096 length=9223372036854775807 sha256=0",
            "ferry-journal 1 seq=1 slot=9223372036854771712 length=1 sha256=0",
            "ferry-journal 1 seq=18446744073709551616 slot=4096 length=1 sha256=0",
            "ferry-journal 1 seq=-1 slot=4096 length=1 sha256=0", "ferry-journal 1 seq=0 slot=0 length=0 sha256=0",
            "ferry-journal 1 seq=0 slot=4096 length=-5 sha256=0", "ferry-journal 99999999999999999999 ",
            "ferry-journal", "ferry-journal \n",
        ])
    func absurd(header: String) {
        #expect(throws: JournalError.self) { try read(Array((header + "\n{}\n").utf8)).get() }
    }

    @Test("Journal: empty, foreign, blank and newer files give different errors (B7)")
    func kinds() throws {
        #expect(read([]) == .failure(.empty(path)))
        #expect(read(Array("#!/bin/sh\n".utf8)) == .failure(.foreign(path)))
        #expect(read([UInt8](repeating: 0, count: 16_384)) == .failure(.torn(path)))
        var bytes = try image(newerFirst: false)
        let future = JournalSlot(version: 7, sequence: 6, slotBytes: 4096, payload: Array("?".utf8)).encode()
        bytes.replaceSubrange(0..<future.count, with: future)
        #expect(read(bytes) == .failure(.newerVersion(path, 7)))
        var record = testRecord()
        record.version = 9
        let slot = JournalSlot(
            version: 1, sequence: 8, slotBytes: 4096, payload: try JournalText.bytes(record, path: path))
        let encoded = slot.encode()
        let padding = [UInt8](repeating: 10, count: 8192 - encoded.count)
        #expect(read(encoded + padding) == .failure(.newerVersion(path, 9)))
    }

    @Test("Journal: missing, huge, empty and directory paths each give their error (B7)")
    func files() throws {
        let disk = LocalFileSystem()
        let directory = try TemporaryDirectory()
        func failure(_ name: String) -> JournalError? {
            do throws(JournalError) { _ = try Journal.read(at: directory.file(name), fileSystem: disk) } catch {
                return error
            }
            return nil
        }
        #expect(failure("none") == .missing(directory.file("none")))
        try disk.create(directory.file("huge"), mode: 0o600).truncate(to: 1 << 40)
        #expect(failure("huge") == .tooLarge(directory.file("huge")))
        try disk.makeDirectory(directory.file("d"))
        #expect(failure("d") == .foreign(directory.file("d")))
        try directory.put("empty")
        #expect(failure("empty") == .empty(directory.file("empty")))
        #expect(throws: JournalError.self) {
            try Journal.open(at: directory.file("empty"), fileSystem: disk, syncs: true)
        }
    }

    @Test("Journal: a slot copied over the other one is not accepted")
    func copied() throws {
        var bytes = try image(newerFirst: false)
        bytes.replaceSubrange(0..<4096, with: bytes[4096...])
        bytes.replaceSubrange(4096..., with: [UInt8](repeating: 10, count: 4096))
        #expect(read(bytes) == .failure(.torn(path)))
    }
}
