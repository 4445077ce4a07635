import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Numbers in journals", .timeLimit(.minutes(30)))
struct JournalNumbersTests {
    let disk = LocalFileSystem()
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A complete journal with this slot size in its header, in a file of that many bytes.
    private func journal(slot: Int, file: Int, payload: [UInt8]) -> [UInt8] {
        let encoded = JournalSlot(version: 1, sequence: 2, slotBytes: slot, payload: payload).encode()
        return encoded + [UInt8](repeating: 10, count: max(0, file - encoded.count))
    }

    private func failure(_ name: String, _ bytes: [UInt8]) throws -> JournalError? {
        try Data(bytes).write(to: URL(filePath: "\(directory.file(name))"))
        do throws(JournalError) {
            let opened = try Journal.open(at: directory.file(name), fileSystem: disk, syncs: false)
            defer { opened.journal.close() }
            // An opened journal can be written to.
            try opened.journal.write(opened.record)
            try opened.journal.write(opened.record)
            return nil
        } catch { return error }
    }

    @Test("Journal: a slot size that is not half of the file is refused before anything is computed with it")
    func slots() throws {
        let payload = try JournalText.bytes(testRecord(), path: "/d/a.part.ferry")
        #expect(try failure("good.part.ferry", journal(slot: 8192, file: 16_384, payload: payload)) == nil)
        let path = directory.file("bad.part.ferry")
        for slot in [4096, 12_288, 1 << 23, 1 << 24, 1 << 33, 1 << 53, 1 << 62, .max - 4095] {
            #expect(try failure("bad.part.ferry", journal(slot: slot, file: 16_384, payload: payload)) == .torn(path))
        }
        for file in [8192, 12_288, 16_383, 16_385, 32_768] {
            #expect(try failure("bad.part.ferry", journal(slot: 8192, file: file, payload: payload)) == .torn(path))
        }
    }

    /// The JSON of a record with these numbers where numbers are.
    private func text(_ one: ByteCount, _ other: ByteCount) -> [UInt8] {
        Array(
            #"""
            {"version":1,"id":"a","urls":["http://h/a"],"name":"a","totalBytes":\#(other),
            "identity":{"totalBytes":\#(other)},"claimed":[[0,\#(one)],[\#(one),\#(other)]],"partDevice":1,"partInode":1,
            "partCreated":[\#(one),\#(other)],"publishing":{"name":"a","device":1,"inode":1,"length":\#(one)},
            "position":\#(one),"priority":\#(other),"rateLimit":\#(one),"maxConnections":\#(other),
            "createdAt":\#(one),"events":[{"time":\#(other),"text":"x"}]}
            """#.utf8)
    }

    private func claims(_ one: ByteCount, _ other: ByteCount) -> [UInt8] {
        Array(
            #"""
            {"version":1,"id":"a","urls":["http://h/a"],"name":"a","identity":{},"claimed":[[\#(one),\#(other)]],
            "partDevice":1,"partInode":1,"createdAt":1,"events":[]}
            """#.utf8)
    }

    @Test("Journal: extreme numbers, in every pair, are refused or give claims within the part file")
    func records() throws {
        try Data(repeating: 1, count: 1000).write(to: URL(filePath: "\(directory.file("a.part"))"))
        var read = 0
        for (one, other) in ExtremeNumbers.pairs {
            for payload in [text(one, other), claims(one, other)] {
                let bytes = journal(slot: 8192, file: 16_384, payload: payload)
                try Data(bytes).write(to: URL(filePath: "\(directory.file("a.part.ferry"))"))
                let found = try? PartFiles.find(at: "\(directory.file("a.part"))", fileSystem: disk)
                guard let found else { continue }
                read += 1
                #expect(found.claimedBytes <= 1000)
                #expect(found.record.totalBytes?.isSize ?? true)
                #expect(found.record.claimed.allSatisfy { $0.allSatisfy { $0 >= 0 && $0 < .bound } })
                let held = PartFiles.held(at: found.part, by: DownloadID(rawValue: "a"), fileSystem: disk)
                #expect(held.map { $0.completedBytes <= 1000 } == true)
            }
        }
        #expect(read > 0)
    }

    @Test("Journal: of 400,000 URLs in a record the first 100 are read")
    func urls() throws {
        var record = testRecord()
        record.urls = (0..<400_000).map { "http://h/\($0)" }
        let payload = try JSONEncoder().encode(record)
        let read = try JournalText.record(Array(payload), path: "/d/a.part.ferry")
        #expect(read.urls == (0..<100).map { "http://h/\($0)" })
    }

    @Test("JournalIndex: only the newest directories stay in memory, and an evicted one is read again")
    func directories() async throws {
        let environment = EngineEnvironment(transport: ScriptedTransport(Resource(size: 1, seed: 1)))
        func journals(in place: FilePath) async throws -> JournalIndex {
            try await environment.files.run { disk throws(FileError) in try environment.journals(in: place, disk) }
        }
        func place(_ number: Int) -> FilePath { directory.file("d\(number)") }
        for number in 0...EngineEnvironment.mostDirectories {
            try disk.makeDirectory(place(number))
            _ = try await journals(in: place(number))
        }
        #expect(environment.knownJournals(in: place(0)) == nil)
        #expect(environment.knownJournals(in: place(EngineEnvironment.mostDirectories)) != nil)
        let journal = try Journal.create(
            at: place(0).appending("a.part.ferry"), record: testRecord(), fileSystem: disk, syncs: false)
        journal.close()
        #expect(try await journals(in: place(0)).paths(forURL: "http://h/a?x=1").count == 1)
    }

    @Test("ChallengeMemory: challenges of many hosts leave a bounded number in memory")
    func challenges() throws {
        let memory = ChallengeMemory()
        var headers = HTTPFields()
        headers[.wwwAuthenticate] = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
        let head = ResponseHead(status: 401, headers: headers)
        let login = Credentials(user: "u", password: "p")
        for number in 0..<(2 * ChallengeMemory.most) {
            let url = try DownloadURL("http://h\(number)/")
            #expect(memory.learn(from: head, url: url, credentials: login, answer: nil, isFirst: true))
            #expect(memory.authorization(for: url, credentials: login)?.hasPrefix("Digest") == true)
        }
        #expect(memory.count == ChallengeMemory.most)
    }
}
