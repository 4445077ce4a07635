import Dispatch
import FerryEngine
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Looking whether downloads can go somewhere", .timeLimit(.minutes(30)))
struct WritablePlacesTests {
    private let directory = FileManager.default.temporaryDirectory.path

    @Test("leaves the caller's thread free while the disk does not answer")
    @MainActor func slowDisk() async throws {
        let (asked, answer) = (Door(), DispatchSemaphore(value: 0))
        let places = WritableDirectories(
            fileSystem: FaultyFileSystem { _, _ in
                asked.open()
                answer.wait()
                answer.signal()
                return nil
            })
        let destination = DownloadRequest.Destination.directory(directory)
        let checking = Task { @MainActor in try await places.check([destination]) }
        // On the main thread too: it would not get here.
        await asked.pass()
        answer.signal()
        try await checking.value
    }

    @Test("asks the disk once for a directory, and once for each file")
    func once() async throws {
        let disk = FaultyFileSystem()
        let places = WritableDirectories(fileSystem: disk)
        let same = DownloadRequest.Destination.directory(directory)
        try await places.check(Array(repeating: same, count: 1000))
        #expect(disk.count == 1)
        try await places.check([.directory(directory, name: .exact("other")), .stream(1)])
        #expect(disk.count == 1)
        let files = (0..<10).map { DownloadRequest.Destination.file("\(directory)/\($0)-\(UUID().uuidString)") }
        try await places.check(files)
        #expect(disk.count == 1 + 2 * files.count)
    }

    @Test("says what cannot be written to, and remembers none of those")
    func refused() async throws {
        let disk = FaultyFileSystem { _, _ in .io }
        let places = WritableDirectories(fileSystem: disk)
        for count in 1...2 {
            await #expect(throws: DownloadError.self) { try await places.check([.directory(directory)]) }
            #expect(disk.count == count)
        }
    }
}
