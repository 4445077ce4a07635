import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// A directory with the files of earlier runs and of other programs, and the request that finds them.
struct PreparationWorld {
    static let url = "http://server.test/f"
    static let etag = "\"one\""
    /// The length of a whole file.
    static let total: ByteCount = 300

    let directory: TemporaryDirectory
    let environment: EngineEnvironment
    let transport = ScriptedTransport(Resource(size: 10))
    var request: DownloadRequest
    var context = RunContext()
    private let fileSystem = LocalFileSystem()

    init() throws {
        directory = try TemporaryDirectory()
        environment = EngineEnvironment(transport: transport, loops: [], random: { 0 })
        request = DownloadRequest(
            sources: [try DownloadURL(Self.url)], destination: .directory(directory.path.string))
    }

    // MARK: What is there

    /// Another program's file, of which the first bytes are `bytes`.
    func put(_ name: String, _ bytes: [UInt8] = [UInt8](repeating: 7, count: 300)) throws {
        try directory.put(name, bytes)
        #expect(chmod(directory.file(name).string, 0o644) == 0)
    }

    func part(_ name: String = "f", length: Int = 300) throws {
        try put(name + ".part", [UInt8](repeating: 7, count: length))
        #expect(chmod(directory.file(name + ".part").string, mode_t(PartFile.mode)) == 0)
    }

    /// The journal of the file `name`, which claims the first 100 bytes.
    func journal(
        _ name: String = "f", url: String = Self.url, id: String = "earlier", claims: [[ByteCount]] = [[0, 100]],
        _ change: (inout JournalRecord) -> Void = { _ in }
    ) throws {
        let part = try fileSystem.statusIfPresent(directory.file(name + ".part"))
        var record = JournalRecord(
            id: id, urls: [url], name: name, totalBytes: Self.total,
            identity: FileIdentity(etag: Self.etag, totalBytes: Self.total), claimed: claims,
            partDevice: part?.device ?? 1, partInode: part?.inode ?? 1, createdAt: 1)
        change(&record)
        try Journal.create(
            at: directory.file(name + ".part.ferry"), record: record, fileSystem: fileSystem, syncs: false
        ).close()
    }

    /// A part file and its journal.
    func pair(
        _ name: String = "f", length: Int = 300, url: String = Self.url, claims: [[ByteCount]] = [[0, 100]],
        _ change: (inout JournalRecord) -> Void = { _ in }
    ) throws {
        try part(name, length: length)
        try journal(name, url: url, claims: claims, change)
    }

    /// Moves the pair of `f` to the backup.
    func setAside() throws {
        let paths = try #require(DownloadPaths(directory: directory.path, name: "f"))
        try BackupPair(paths, fileSystem: fileSystem, syncs: false).move()
    }

    func rename(_ name: String, to other: String) throws {
        try fileSystem.rename(directory.file(name), to: directory.file(other), replacing: false)
    }

    /// A finished file with the attribute that Ferry gives to it.
    func finished(_ name: String = "f", url: String = Self.url, etag: String? = Self.etag) throws {
        try put(name)
        let file = try fileSystem.open(directory.file(name), .readWrite)
        defer { file.close() }
        let status = try file.status()
        let attribute = SourceAttribute(
            FileSource(url: url, etag: etag), length: status.length, modified: status.modified)
        try file.setAttribute(SourceAttribute.name, attribute.encode())
    }

    /// The announcement of a file that has its final name, or of a part file.
    func announcement(of name: String, as final: String = "f") throws -> JournalRecord.Publishing {
        let status = try fileSystem.status(directory.file(name), followingLinks: false)
        return .init(name: final, device: status.device, inode: status.inode, length: status.length)
    }

    /// The control file of aria2 for a file of ``total`` bytes in pieces of 100.
    func control(of name: String, pieces: UInt8) throws {
        let head: [UInt8] = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 1, 44]
        try put(name + ".aria2", head + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 1, pieces, 0, 0, 0, 0])
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.file(name).string, withDestinationPath: target)
    }

    func makeDirectory(_ name: String) throws { try fileSystem.makeDirectory(directory.file(name)) }

    // MARK: What is found

    struct Found: Sendable {
        var prepared: Prepared
        var notes: [String]
        /// The names in the directory afterwards.
        var names: [String]
        /// The claims of each journal afterwards.
        var claims: [String: [[ByteCount]]]
        var requests: Int
    }

    private final class Notes: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }

        func append(_ text: String) { texts.withLock { $0.append(text) } }
    }

    /// Prepares a run of the download `new`.
    func prepare(
        tags: JournalTags? = nil, isStopped: @escaping @Sendable () -> Bool = { false }
    ) async throws -> Found {
        let own = OwnFiles(id: DownloadID(rawValue: "new"), request: request, context: context)
        let notes = Notes()
        let prepared = await environment.files.stay { [environment] disk async -> Prepared in
            var preparation = Preparation(
                own, name: "f", environment, environment.files, DriverSettings(),
                report: { report in
                    guard case .event(let event) = report else { return }
                    switch event.kind {
                    case .note(let text): notes.append(text)
                    case .restarted(let reason): notes.append("restarted: \(reason)")
                    default: notes.append("\(event.kind)")
                    }
                }, tags: { tags }, isStopped: isStopped)
            let prepared = await preparation.run(disk)
            switch prepared.start {
            case .resume(let pair, _), .failed(_, let pair?): pair.close(disk)
            case .compare(let half, _): half.file.close()
            default: break
            }
            return prepared
        }
        let names = try directory.names
        var claims: [String: [[ByteCount]]] = [:]
        for name in names where name.hasSuffix(".ferry") {
            claims[name] = try? Journal.read(at: directory.file(name), fileSystem: fileSystem).claimed
        }
        return Found(
            prepared: prepared, notes: notes.all, names: names, claims: claims,
            requests: transport.requests)
    }
}

extension Prepared {
    /// What matters to the transfer, on one line.
    var summary: String {
        var words: [String]
        switch start {
        case .finished(let file): words = ["finished", Paths.name(of: file.path), file.proof.rawValue]
        case .resume(let pair, let held):
            words = ["resume", pair.paths.part.lastComponent?.string ?? "", Self.text(held.content.ranges)]
            if held.isDoubtful { words.append("doubtful") }
            if held.isNewSource { words.append("of a new source") }
            if held.content.identity.etag == nil { words.append("without validator") }
        case .compare(let half, let ranges):
            words = ["compare", half.path.lastComponent?.string ?? "", Self.text(ranges)]
        case .fresh: words = ["fresh"]
        case .failed(let error, let pair):
            words = ["failed", error.code.rawValue] + (pair == nil ? [] : ["with a part"])
        }
        if name != "f" { words += ["named", name] }
        if let earlier {
            words += [
                earlier.identity == nil ? "verifying" : "unless current:", earlier.path.lastComponent?.string ?? "",
            ]
        }
        switch backup {
        case .absent: break
        case .own(_, let id): words += ["backup of", id ?? "?"]
        case .found: words.append("found backup")
        }
        if emptyHalf != nil { words.append("replacing reserved space") }
        if isDistrusted { words.append("distrusted") }
        return words.joined(separator: " ")
    }

    private static func text(_ ranges: RangeSet<ByteCount>) -> String {
        ranges.ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }
}

/// One line of the table: what is there, and what a run begins with.
struct PreparationRow: Sendable, CustomTestStringConvertible {
    let title: String
    /// ``Prepared/summary``.
    let expected: String
    /// The names in the directory afterwards.
    let names: [String]
    /// A part of each note, in order.
    let notes: [String]
    let arrange: @Sendable (inout PreparationWorld) throws -> Void

    var testDescription: String { title }

    init(
        _ title: String, _ expected: String, leaves names: [String], notes: [String] = [],
        _ arrange: @escaping @Sendable (inout PreparationWorld) throws -> Void
    ) {
        (self.title, self.expected, self.names, self.notes, self.arrange) = (title, expected, names, notes, arrange)
    }

    func check() async throws {
        var world = try PreparationWorld()
        try arrange(&world)
        let found = try await world.prepare()
        #expect(found.prepared.summary == expected, "\(found.notes)")
        #expect(found.names == names)
        #expect(
            found.notes.count == notes.count && zip(found.notes, notes).allSatisfy { $0.contains($1) },
            "\(found.notes)")
        #expect(found.requests == 0)
    }
}
