import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Location of a catalogue and of its downloads", .timeLimit(.minutes(30)))
struct CatalogueLocationTests {
    /// Two directories for downloads, and the directory around them, which has the catalogue in `app/state`.
    private struct Place {
        let directory: String
        var app: String { directory + "/app" }
        var old: String { app + "/old é" }
        var new: String { app + "/new place" }

        /// Fills a catalogue with an unfinished download and a completed one in `old`, one elsewhere, and one in a
        /// directory whose name begins with that of `old`.
        func fill() async throws {
            try make(old)
            let catalogue = try await StoreBench.open(app, downloads: old + "/").catalogue
            let ending = Ending(.completed(StoreBench.finished(old + "/d/e"), nil), at: StoreBench.date(1))
            var here = try StoreBench.row("d", request: StoreBench.request(to: .directory(old)))
            here.request.root = old
            here.request.keptCopy = KeptCopy(directory: old + "/kept", path: "a")
            try await catalogue.commit([
                .insert([
                    StoreBench.fullRow("a", downloads: old), try elsewhere("b", "/elsewhere/b"),
                    try elsewhere("x", old + "x/b"), StoreBench.row("c"), here,
                ]), .end("c", ending),
            ])
            await catalogue.close()
        }

        private func elsewhere(_ id: String, _ path: String) throws -> CatalogueRow {
            try StoreBench.row(id, request: StoreBench.request(to: .file(path)))
        }

        func make(_ directory: String) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }

        func make(file: String) throws {
            try make((file as NSString).deletingLastPathComponent)
            try Data("x".utf8).write(to: URL(filePath: file))
        }

        /// Opens the catalogue with other directories and compares its paths.
        func expect(_ downloads: String, in expected: String, app: String? = nil) async throws {
            let catalogue = try await StoreBench.open(app ?? self.app, downloads: downloads).catalogue
            #expect(try await catalogue.row("a") == StoreBench.fullRow("a", downloads: expected))
            #expect(try await catalogue.row("b") == elsewhere("b", "/elsewhere/b"))
            #expect(try await catalogue.row("x") == elsewhere("x", old + "x/b"))
            let completed = DownloadEvent.Kind.completed(StoreBench.finished(expected + "/d/e"))
            #expect(try await catalogue.row("c")?.path == expected + "/d/e")
            #expect(try await catalogue.history(of: "c").map(\.kind) == [completed])
            #expect(try await catalogue.pendingEvents(after: 0, limit: 9).map(\.event.kind) == [completed])
            let here = try #require(try await catalogue.row("d")).request
            #expect(here.destination == .directory(expected) && here.root == expected)
            #expect(here.keptCopy == KeptCopy(directory: expected + "/kept", path: "a"))
            for id in ["a", "b", "x", "d"] {
                let request = try #require(try await catalogue.row(id)).request
                #expect(try await catalogue.duplicates(of: [request]) == [[DownloadID(rawValue: id)]])
            }
            await catalogue.close()
        }
    }

    private func run(_ body: (Place) async throws -> Void) async throws {
        try await StoreBench.withDirectory { directory in
            let place = Place(directory: directory)
            try await place.fill()
            try await body(place)
        }
    }

    @Test(
        "CatalogueLocation: another directory for downloads leaves all paths as they are, also when it is changed back")
    func another() async throws {
        try await run { place in
            try place.make(file: place.new + "/sub/c d.bin.part")
            try await place.expect(place.new, in: place.old)
            try await place.expect(place.old, in: place.old)
        }
    }

    @Test("CatalogueLocation: a vanished directory, such as a removed disk, keeps its downloads")
    func vanished() async throws {
        try await run { place in
            try FileManager.default.removeItem(atPath: place.old)
            try place.make(file: place.new + "/other.bin")
            try await place.expect(place.new, in: place.old)
        }
    }

    @Test("CatalogueLocation: paths follow a renamed directory, which contains a file of the list")
    func renamed() async throws {
        try await run { place in
            try FileManager.default.removeItem(atPath: place.old)
            try place.make(file: place.new + "/sub/c d.bin.part")
            try await place.expect(place.new + "//", in: place.new)
            try await place.expect(place.new, in: place.new)
        }
    }

    @Test(
        "CatalogueLocation: a directory that may not be looked at is gone if the catalogue was moved, else its downloads stay"
    )
    func foreignContainer() async throws {
        try await run { place in
            let moved = place.directory + "/moved"
            let old = FilePath(place.old)
            // As the sandbox of an app answers for the container of another one.
            let sandbox = FaultyFileSystem { _, path in path.starts(with: old) ? .permission : nil }
            let same = try await Catalogue.open(
                directory: place.app + "/state", downloads: place.new, fileSystem: sandbox
            ).catalogue
            #expect(try await same.row("d")?.request.root == place.old)
            await same.close()
            // As before the first of these openings.
            let back = try await StoreBench.open(place.app, downloads: place.old).catalogue
            await back.close()
            try FileManager.default.copyItem(atPath: place.app, toPath: moved)
            let there = try await Catalogue.open(
                directory: moved + "/state", downloads: place.new, fileSystem: sandbox
            ).catalogue
            #expect(try await there.row("d")?.request.root == place.new)
            await there.close()
        }
    }

    @Test("CatalogueLocation: paths follow an app's container that was moved with the catalogue, files or not")
    func container() async throws {
        try await run { place in
            let moved = place.directory + "/moved"
            try FileManager.default.moveItem(atPath: place.app, toPath: moved)
            try await place.expect(moved + "/old é", in: moved + "/old é", app: moved)
        }
    }

    @Test("CatalogueLocation: a copy of the catalogue leaves its downloads where they are")
    func copied() async throws {
        try await run { place in
            let copy = place.directory + "/copy"
            try FileManager.default.copyItem(atPath: place.app, toPath: copy)
            try await place.expect(copy + "/old é", in: place.old, app: copy)
        }
    }
}
