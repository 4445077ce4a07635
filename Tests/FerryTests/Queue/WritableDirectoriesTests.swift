import Dispatch
import FerryEngine
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Check for writable directories", .timeLimit(.minutes(30)))
struct WritablePlacesTests {
    private let directory = FileManager.default.temporaryDirectory.path

    @Test("Writable directories: a disk that does not answer leaves the caller's thread free")
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
        // Also on the main thread: a blocked one would not get here.
        await asked.pass()
        answer.signal()
        try await checking.value
    }

    @Test("Writable directories: the disk is asked once for a directory and twice for each file")
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

    @Test("Writable directories: an unwritable one is an error and checked again at the next call")
    func refused() async throws {
        let disk = FaultyFileSystem { _, _ in .io }
        let places = WritableDirectories(fileSystem: disk)
        for count in 1...2 {
            await #expect(throws: DownloadError.self) { try await places.check([.directory(directory)]) }
            #expect(disk.count == count)
        }
    }
}
