import FerryAPI
import FerryTesting
import Foundation
import Testing

/// The order of system calls that makes a replaced file durable.
@Suite("The binary: files of the daemon", .timeLimit(.minutes(30)), .enabled(if: Strace.canInject, "no strace here"))
struct SyncOrderTests {
    @Test("PrivateFile: the file is synced, then renamed, then its directory is synced")
    func order() async throws {
        let place = try Workplace()
        let serve = try await ServeProcess.start(in: place)
        let trace = place.path("trace")
        let pid = Int32(try #require(serve.listening).pid)
        let tracer = try await Strace.record(calls: "rename,renameat,renameat2,fsync", of: pid, to: trace)
        var change = SettingsChange()
        change.maxConcurrentDownloads = .set(2)
        _ = try await serve.ask(.changeSettings, body: change)
        _ = try await serve.ask(.attach, body: SessionRegistration(identifier: "app"))
        tracer.signal(SIGINT)
        _ = await tracer.end()
        try await serve.stop()
        let lines = try String(contentsOfFile: trace, encoding: .utf8).components(separatedBy: "\n")
        for file in [place.path("config/ferry.json"), place.path("state/sessions.json")] {
            let directory = URL(filePath: file).deletingLastPathComponent().path
            func index(_ isMeant: (String) -> Bool) -> Int? { lines.firstIndex(where: isMeant) }
            let written = try #require(index { $0.contains("fsync(") && $0.contains("<\(file).new-") }, "\(lines)")
            let renamed = try #require(index { $0.contains("rename") && $0.contains(", \"\(file)\"") }, "\(lines)")
            let synced = try #require(index { $0.contains("fsync(") && $0.contains("<\(directory)>") }, "\(lines)")
            #expect(written < renamed && renamed < synced, "\(lines)")
        }
    }
}
