import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// Records each call, and the names on the disk at that time.
final class PublishObserver: PublishObserving {
    struct Entry: Sendable, Hashable {
        var call: String
        var file: PublishedFile
        var names: [String]
        var isThere: Bool
    }
    let entries = Mutex<[Entry]>([])
    private let directory: TemporaryDirectory
    private let onCall: @Sendable (String, Int) throws -> Void

    /// `onCall` gets the call's name and the number of earlier calls.
    init(_ directory: TemporaryDirectory, _ onCall: @escaping @Sendable (String, Int) throws -> Void = { _, _ in }) {
        self.directory = directory
        self.onCall = onCall
    }

    func willPublish(_ file: PublishedFile) async throws(DownloadError) { try note("will", file) }

    func didPublish(_ finished: FinishedDownload, _ file: PublishedFile) async throws(DownloadError) {
        #expect(finished.path == file.path && finished.totalBytes == file.length)
        try note("did", file)
    }

    private func note(_ call: String, _ file: PublishedFile) throws(DownloadError) {
        let entry = Entry(
            call: call, file: file, names: (try? directory.names) ?? [],
            isThere: file.isUnchanged(fileSystem: LocalFileSystem()))
        let earlier = entries.withLock { entries in
            defer { entries.append(entry) }
            return entries.count { $0.call == call }
        }
        do { try onCall(call, earlier) } catch { throw DownloadError(.catalogue, "full") }
    }

    var calls: [String] { entries.withLock { $0.map(\.call) } }
    var all: [Entry] { entries.withLock { $0 } }
}

@Suite("PublishObserver", .timeLimit(.minutes(30)))
struct PublishWitnessTests {
    struct Full: Error {}

    @Test("PublishObserver: a small file is announced before it has its name, and reported after")
    func small() async throws {
        // On a busy machine a small file would move to disk.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 300_000))
            let observer = PublishObserver(rig.directory)
            let end = await rig.run(try rig.request("/f"), RunContext(observer: observer))
            #expect(end.file?.path == rig.directory.file("f").string)
            #expect(observer.calls == ["will", "did"])
            #expect(observer.all.first?.isThere == false)
            #expect(observer.all.first?.names == [])
            #expect(observer.all.last?.isThere == true)
            #expect(observer.all.first?.file == observer.all.last?.file)
            let file = try #require(observer.all.last?.file)
            #expect(try PublishedFile.read(file.path, fileSystem: LocalFileSystem()) == file)
        }
    }

    @Test("Driver: recoverAnnounced() confirms a synced unchanged file, and no replaced or missing one")
    func recovery() async throws {
        // On a busy machine a small file would move to disk.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 300_000))
            let observer = PublishObserver(rig.directory)
            _ = await rig.run(try rig.request("/f"), RunContext(observer: observer))
            let file = try #require(observer.all.first?.file)
            #expect(try DownloadDriver.recoverAnnounced(file, syncs: true, fileSystem: LocalFileSystem()))
            #expect(try !DownloadDriver.recoverAnnounced(file, syncs: false, fileSystem: LocalFileSystem()))
            var other = file
            other.inode += 1
            #expect(try !DownloadDriver.recoverAnnounced(other, syncs: true, fileSystem: LocalFileSystem()))
            try rig.directory.put("f", [UInt8](repeating: 1, count: 300_000))
            #expect(try !DownloadDriver.recoverAnnounced(file, syncs: true, fileSystem: LocalFileSystem()))
            try FileManager.default.removeItem(atPath: file.path)
            #expect(try !DownloadDriver.recoverAnnounced(file, syncs: true, fileSystem: LocalFileSystem()))
        }
    }

    @Test("PublishObserver: a small file whose name is taken meanwhile is announced again under the next")
    func takenMeanwhile() async throws {
        // On a busy machine a small file would move to disk.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 300_000))
            let directory = rig.directory
            let observer = PublishObserver(directory) { call, earlier in
                if call == "will", earlier == 0 { try directory.put("f") }
            }
            let end = await rig.run(try rig.request("/f"), RunContext(observer: observer))
            #expect(observer.calls == ["will", "will", "did"])
            #expect(observer.all.map { ($0.file.path as NSString).lastPathComponent } == ["f", "f (1)", "f (1)"])
            #expect(end.file?.path == directory.file("f (1)").string)
        }
    }

    @Test("PublishObserver: a small file whose announcement fails is not published")
    func refused() async throws {
        // On a busy machine a small file would move to disk.
        try await DriverRig.with(clock: FrozenClock()) { rig in
            rig.server.serve("/f", Resource(size: 300_000))
            let observer = PublishObserver(rig.directory) { _, _ in throw Full() }
            let end = await rig.run(try rig.request("/f"), RunContext(observer: observer))
            #expect(end.error?.code == .catalogue)
            #expect(try rig.directory.names == [])
        }
    }

    @Test("PublishObserver: the journal of a part file stays until the observer was notified")
    func pair() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 3_000_000))
            let observer = PublishObserver(rig.directory)
            _ = await rig.run(try rig.request("/f"), RunContext(observer: observer))
            #expect(observer.calls == ["did"])
            #expect(observer.all.first?.names == ["f", "f.part.ferry"])
            #expect(observer.all.first?.isThere == true)
            #expect(try rig.directory.names == ["f"])
        }
    }

    @Test("PublishObserver: an observer that failed is notified by the next run, without another request")
    func toldLater() async throws {
        try await DriverRig.with { rig in
            let resource = Resource(size: 3_000_000)
            rig.server.serve("/f", resource)
            let observer = PublishObserver(rig.directory) { _, earlier in if earlier < 2 { throw Full() } }
            #expect(await rig.run(try rig.request("/f"), RunContext(observer: observer)).error?.code == .catalogue)
            #expect(try rig.directory.names == ["f", "f.part.ferry"])
            let asked = rig.server.requests.count
            let context = RunContext(partPath: rig.directory.file("f.part").string, observer: observer)
            #expect(await rig.run(try rig.request("/f"), context).error?.code == .catalogue)
            #expect(try rig.directory.names == ["f", "f.part.ferry"])
            let end = await rig.run(try rig.request("/f"), context)
            #expect(end.file?.wasAlreadyComplete == true)
            #expect(rig.server.requests.count == asked)
            #expect(observer.calls == ["did", "did", "did"])
            #expect(try rig.directory.names == ["f"])
            #expect(rig.holds("f", resource))
        }
    }
}
