import Ferry
import Foundation
import Testing

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
}
