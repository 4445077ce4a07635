import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

/// The kinds of sinks.
enum SinkKind: String, CaseIterable, Sendable {
    case memory, part, stream, examined

    /// Whether a kill leaves the bytes where the next run finds them.
    var survives: Bool { self == .part }
    var holdsBytes: Bool { self == .memory || self == .part }
}

/// A directory with a sink of each kind for a file `f`.
struct SinkWorld {
    static let id = DownloadID(rawValue: "mine")
    let directory: TemporaryDirectory
    let environment: EngineEnvironment
    let own: OwnFiles
    let files: FileIO

    init(_ fileSystem: (any FileSystem)? = nil) throws {
        directory = try TemporaryDirectory()
        environment = EngineEnvironment(transport: ScriptedTransport(Resource(size: 10)), loops: [], random: { 0 })
        files = fileSystem.map { FileIO($0) } ?? environment.files
        own = OwnFiles(
            id: Self.id,
            request: DownloadRequest(
                sources: [try DownloadURL("http://server.test/f")], destination: .directory(directory.path.string)),
            context: RunContext())
    }

    static func statement(_ claimed: RangeSet<ByteCount> = RangeSet(), tag: String = "\"one\"") -> JournalStatement {
        JournalStatement(
            claimed: claimed, isComplete: false, isLinkUnproven: false, urls: ["http://server.test/f"], totalBytes: 300,
            identity: FileIdentity(etag: tag, totalBytes: 300))
    }

    func order(_ name: String = "f", claimed: RangeSet<ByteCount> = RangeSet()) -> PartSession.Order {
        PartSession.Order(
            name: name, directory: directory.path, reserve: nil, backup: .absent, mayReplace: false,
            statement: Self.statement(claimed), events: [])
    }

    func session(_ disk: Disk, _ order: PartSession.Order? = nil) throws -> PartSession {
        guard case .made(let session, nil) = try PartSession.create(order ?? self.order(), own: own, environment, disk)
        else { throw DownloadError(.internal, "no part file was made") }
        return session
    }

    /// Makes a sink. That of an existing file compares `f`, whose bytes are all 7; that of a stream writes to `out`.
    func sink(_ kind: SinkKind, _ disk: Disk) throws -> any Sink {
        switch kind {
        case .memory: return MemorySink(name: "f", directory: directory.path, reserve: 16)
        case .part: return try session(disk)
        case .stream:
            try directory.put("out", [])
            let descriptor = open(directory.file("out").string, O_WRONLY)
            try #require(descriptor >= 0)
            return StreamSink(descriptor)
        case .examined:
            try directory.put("f", [UInt8](repeating: 7, count: 300))
            let file = try disk.fileSystem.open(directory.file("f"), .readOnly)
            return ExaminedFile(
                ExistingFile(path: directory.file("f"), file: file, status: try file.status(), isHalf: false))
        }
    }

    /// Runs `body` with a sink on a file thread, and closes it.
    func with(_ kind: SinkKind, _ body: @escaping @Sendable (any Sink, Disk) throws -> Void) async throws {
        try await files.run { [self] disk in
            let sink = try sink(kind, disk)
            defer { sink.close(disk) }
            try body(sink, disk)
        }
    }

    var owner: BackupPair.Owner { .init(ids: [Self.id.rawValue], urls: []) }

    /// The record of the journal of `f`.
    func record(_ disk: Disk) throws -> JournalRecord {
        try Journal.read(at: directory.file("f.part.ferry"), fileSystem: disk.fileSystem)
    }
}

extension Sink {
    func write(_ bytes: [UInt8], at offset: ByteCount, _ disk: Disk?) throws -> Bool {
        try bytes.withUnsafeBytes { bytes in try write(bytes, at: offset, disk) }
    }
}
