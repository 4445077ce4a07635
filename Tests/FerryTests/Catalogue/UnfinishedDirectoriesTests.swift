import FerryCore
import Foundation
import Testing

@testable import Ferry

@Suite("Directories of unfinished downloads", .timeLimit(.minutes(30)))
struct UnfinishedPlacesTests {
    @Test("UnfinishedDirectories: directories of unfinished downloads are read, the database stays unchanged")
    func read() async throws {
        try await StoreBench.withDirectory { directory in
            let downloads = directory + "/files"
            let first = try await StoreBench.open(directory)
            var rows = [
                try StoreBench.row("paused"), try StoreBench.row("failed"), try StoreBench.row("done"),
                try StoreBench.row("gone"), try StoreBench.row("waiting"),
            ]
            let places = ["/p", downloads + "/sub", "/done", "/gone", downloads]
            let states: [DownloadState] = [
                .paused, .failed(DownloadError(.disk, "x")), .completed(.single), .cancelled, .waiting(.slot),
            ]
            for index in rows.indices {
                rows[index].request.destination = .directory(places[index])
                rows[index].path = nil
                rows[index].part = nil
                rows[index].state = states[index]
            }
            rows[0].request.destination = .file("/p/file.bin")
            try await first.catalogue.commit([.insert(rows), .complete])
            await first.catalogue.close()
            let path = first.catalogue.path
            let before = try Data(contentsOf: URL(filePath: path))
            let state = String(path.dropLast("/\(Catalogue.fileName)".count))
            #expect(
                UnfinishedDirectories.read(state: state) == ["/p", downloads, downloads + "/sub"].sorted())
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            // A missing or damaged list gives nil.
            #expect(UnfinishedDirectories.read(state: state + "/none") == nil)
            try Data("no database".utf8).write(to: URL(filePath: path))
            #expect(UnfinishedDirectories.read(state: state) == nil)
        }
    }
}
