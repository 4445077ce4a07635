import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Requests by URLs of Foundation")
struct RequestURLTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("Request: a URL and a directory or file of Foundation become the source and the path, also with spaces")
    func places() throws {
        let source = try url("https://example.com/a%20b?x=1")
        let directory = URL(filePath: "/tmp/my films", directoryHint: .isDirectory)
        let into = try DownloadRequest(from: source, into: directory)
        #expect(into.sources.map(\.text) == ["https://example.com/a%20b?x=1"])
        #expect(into.destination == .directory("/tmp/my films"))
        let to = try DownloadRequest(from: source, to: directory.appending(path: "ä.mp4"))
        #expect(to.destination == .file("/tmp/my films/ä.mp4"))
        #expect(URL(try #require(into.sources.first)) == source)
    }

    @Test("Request: a URL that is not one of a server, and a place that is not one of files, are refused")
    func refused() throws {
        let web = try url("https://example.com/a")
        let other = try url("ftp://example.com/a")
        let wrongs: [() throws -> DownloadRequest] = [
            { try DownloadRequest(from: other, into: URL(filePath: "/tmp")) },
            { try DownloadRequest(from: web, into: web) }, { try DownloadRequest(from: web, to: web) },
        ]
        for wrong in wrongs {
            let error = #expect(throws: DownloadError.self) { _ = try wrong() }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test("Request: a header is set, replaced, read and removed by its name, and an unusable one is refused unseen")
    func headers() throws {
        var request = try DownloadRequest(from: url("https://example.com/a"), into: URL(filePath: "/tmp"))
        try request.setHeader("Authorization", to: "Bearer 1")
        try request.setHeader("authorization", to: "Bearer 2")
        #expect(request.header("AUTHORIZATION") == "Bearer 2")
        try request.setHeader("Authorization", to: nil)
        #expect(request.header("Authorization") == nil)
        for (name, value) in [("X Y", "1"), ("", "1"), ("X-Y", "hunter2\r\nEvil: 1")] {
            let error = #expect(throws: DownloadError.self) { try request.setHeader(name, to: value) }
            #expect(error?.code == .invalidRequest)
            #expect("\(String(reflecting: error))".contains("hunter2") == false)
        }
    }

    @Test("Status and result: a path is a URL of a file too, and none without a file")
    func files() {
        var status = DownloadStatus(id: "a", state: .paused, name: "a b")
        #expect(status.fileURL == nil)
        status.path = "/tmp/a b"
        #expect(status.fileURL?.path(percentEncoded: false) == "/tmp/a b")
        #expect(FinishedDownload(path: "/tmp/a b", totalBytes: 1, proof: .single).fileURL?.lastPathComponent == "a b")
        #expect(FinishedDownload(path: "", totalBytes: 1, proof: .single).fileURL == nil)
    }

    @Test("Manager: its directories, downloads and part files are named by URLs of Foundation as well as by paths")
    func manager() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/b"])
            shop.serve(["/a"], [.stall(after: 1_100_000)])
            let directory = URL(filePath: shop.directory, directoryHint: .isDirectory)
            var configuration = DownloadManager.Configuration.default(
                identifier: "urls", directory: directory, stateDirectory: directory.appending(path: "state"))
            guard case .catalogue("urls", let downloads, let state) = configuration.storage else {
                Issue.record("\(configuration.storage)")
                return
            }
            #expect(downloads == shop.directory && state == shop.directory + "/state")
            configuration.minFreeBytes = 0
            configuration.waitForBusyMachine()
            let manager = DownloadManager(configuration)
            let source = try url(shop.server.url("/a"))
            var request = try DownloadRequest(from: source, into: directory)
            request.maxConnections = 1
            let download = try await manager.download(request)
            await shop.reach(1_000_000, download)
            #expect(try await manager.downloads(url: source) == [download])
            try await download.pause()
            #expect(try await manager.partFiles(in: directory).map(\.lastPathComponent) == ["a.part"])
            let other = directory.appending(path: "moved", directoryHint: .isDirectory)
            try await download.moveFiles(to: other)
            try await download.resume()
            let file = try #require(try await download.finished().fileURL)
            #expect(file.deletingLastPathComponent().lastPathComponent == "moved")
            shop.expect(file.path(percentEncoded: false), is: resource)
            // Into the manager's directory.
            let second = try await manager.download(from: url(shop.server.url("/b"))).finished()
            #expect(second.fileURL?.path(percentEncoded: false) == shop.path("b"))
            await #expect(throws: DownloadError.self) { _ = try await manager.adopt(source) }
            await manager.shutdown()
        }
    }
}
