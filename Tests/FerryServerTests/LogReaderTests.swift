import FerryCore
import Foundation
import Synchronization
import Testing

@testable import FerryServer

@Suite("LogReader", .timeLimit(.minutes(30))) struct LogReaderTests {
    @Test("LogReader: the last lines come first, then each new one, also of the file that replaces a full one")
    func followed() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/daemon.log"
        let log = LogFile(path, mostBytes: 40)
        for number in 1...3 { log.write("line \(number)") }
        let (lines, told) = AsyncStream.makeStream(of: String.self)
        let reading = Task {
            do throws(DownloadError) {
                try await LogReader(path).read(last: 2, follows: true, every: .milliseconds(1)) { told.yield($0) }
            } catch { Issue.record("\(error)") }
        }
        var seen: [String] = []
        for await line in lines {
            seen.append(line)
            // Each line is written after the one before was read, and every fifth one into a new file.
            if seen.count >= 2, seen.count < 20 { log.write("line \(seen.count + 2)") }
            if seen.count == 20 { break }
        }
        reading.cancel()
        await reading.value
        #expect(seen == (2...21).map { "line \($0)" })
        #expect(FileManager.default.fileExists(atPath: path + ".1"))
    }

    @Test("LogReader: an incomplete line waits for its end, and a missing file is not found")
    func incomplete() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/log"
        var seen: [String] = []
        do throws(DownloadError) {
            try await LogReader(path).read(last: 9, follows: false) { seen.append($0) }
            Issue.record("there is no log")
        } catch { #expect(error.code == .notFound) }
        try "a\n\nb".write(toFile: path, atomically: false, encoding: .utf8)
        try await LogReader(path).read(last: 9, follows: false) { seen.append($0) }
        #expect(seen == ["a", ""])
    }
}
