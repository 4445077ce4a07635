import Ferry
import FerryTesting
import Foundation
import Testing

/// A sign-in page with status 200 was saved under the name of the file, and reported as complete.
@Suite("A web page in place of a file", .timeLimit(.minutes(30)))
struct PageTests {
    private static let text = "<!doctype html><html><title>Sign in</title>"

    /// A page without any validator.
    private static func page(_ type: String?, text: String = Self.text) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = .page(200, text)
            answer.fields["Content-Type"] = type
        }
    }

    @Test(
        "Web page: an HTML response for a binary name is a dead link, and nothing is written",
        arguments: ["/a.iso", "/a.zip", "/a.bin", "/a.tar.gz"], ["text/html; charset=utf-8", nil])
    func first(path: String, type: String?) async throws {
        try await Workshop.run { shop in
            shop.server.serve(path, Resource(size: 3_000_000))
            shop.server.always(path, Self.page(type))
            let outcome = try await shop.get(path)
            #expect(outcome.error?.code == .freshLink)
            #expect(outcome.error?.message.contains("web page") == true)
            #expect(outcome.error?.suggestion?.contains("fresh link") == true)
            #expect(shop.names.isEmpty)
        }
    }

    @Test("Web page: a requested or a server-given binary name makes an HTML response a dead link")
    func names() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/get", Resource(size: 3_000_000))
            shop.server.always("/get", .htmlPage())
            let given = try await shop.get("/get", { _ in }) { $0.destination = .file(shop.directory + "/a.iso") }
            #expect(given.error?.code == .freshLink)
            shop.server.always(
                "/get", .all(.htmlPage(), .field("Content-Disposition", "attachment; filename=a.zip")))
            #expect(try await shop.get("/get").error?.code == .freshLink)
            #expect(shop.names.isEmpty)
        }
    }

    @Test("Web page: an HTML response for a stream is a dead link, and no byte is written")
    func stream() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.json", Resource(size: 3000))
            shop.server.always("/a.json", Self.page(nil))
            let pipe = Pipe()
            let outcome = try await shop.get("/a.json", { _ in }) {
                $0.destination = .stream(pipe.fileHandleForWriting.fileDescriptor)
            }
            #expect(outcome.error?.code == .freshLink)
            try pipe.fileHandleForWriting.close()
            #expect(try pipe.fileHandleForReading.readToEnd() ?? Data() == Data())
        }
    }

    @Test(
        "Web page: an HTML response on resume is a dead link, and held bytes are resumed by a good link",
        arguments: [nil, "application/octet-stream"], ["text/html", nil])
    func resumed(before: String?, after: String?) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000, contentType: before)
            shop.server.serve("/file", resource)
            try await shop.interrupt("/file", after: 8_000_000)
            shop.server.always("/file", Self.page(after, text: "<html>" + String(repeating: " ", count: 5000)))
            let outcome = try await shop.get("/file")
            #expect(outcome.error?.code == .freshLink)
            #expect(shop.names == ["file.part", "file.part.ferry"])
            shop.server.always("/file", .honest)
            let good = try await shop.get("/file")
            try shop.expect(good.file.path, is: resource)
            #expect(good.resumedAt == 8_000_000)
        }
    }

    @Test(
        "New link: a refusal or a web page is reported as such, and held bytes are resumed by a good link",
        arguments: [
            (page("text/html", text: "<html>" + String(repeating: " ", count: 5000)), .freshLink, "web page"),
            (page(nil, text: "<html>" + String(repeating: " ", count: 5000)), .freshLink, "web page"),
            (Behaviour.status(400), DownloadError.Code.refused, "400"), (.status(416), .conflict, "416"),
            (.status(503), .refused, "503"),
            (.ignoreRange, .conflict, "sends no ranges"),
        ])
    func refusedLink(behaviour: Behaviour, code: DownloadError.Code, words: String) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000)
            shop.server.serve("/file", resource)
            try await shop.interrupt("/file", after: 8_000_000)
            let part = DownloadRequest.Destination.part(shop.directory + "/file.part")
            shop.server.serve("/other", resource)
            shop.server.always("/other", behaviour)
            let outcome = try await shop.get("/other", { $0.maxRetries = 1 }) { $0.destination = part }
            #expect(outcome.error?.code == code)
            #expect(outcome.error?.message.contains(words) == true, "\(outcome.error?.message ?? "")")
            #expect(shop.names == ["file.part", "file.part.ferry"])
            shop.server.always("/other", .honest)
            let good = try await shop.get("/other", { _ in }) { $0.destination = part }
            try shop.expect(good.file.path, is: resource)
            #expect(good.resumedAt == 8_000_000)
        }
    }

    @Test(
        "Web page: an HTML response is kept for a page's name, for no extension, or on request",
        arguments: ["text/html", nil])
    func asked(type: String?) async throws {
        try await Workshop.run { shop in
            for path in ["/", "/download", "/a.html", "/index.php", "/v1.2", "/a.iso"] {
                shop.server.serve(path, Resource(size: 3_000_000))
                shop.server.always(path, Self.page(type))
                let outcome = try await shop.get(path, { _ in }) { $0.trust.acceptsHTML = path == "/a.iso" }
                let file = try outcome.file
                #expect(FileManager.default.contents(atPath: file.path) == Data(Self.text.utf8), "\(path)")
            }
        }
    }

    @Test("Web page: a partial HTML file is resumed at its offset")
    func held() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 20_000_000, contentType: "text/html")
            shop.server.serve("/a.html", resource)
            try await shop.interrupt("/a.html", after: 8_000_000)
            let outcome = try await shop.get("/a.html")
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt == 8_000_000)
        }
    }

    @Test(
        "Content type: a file without a type keeps all bytes after its first ones were inspected",
        arguments: [0, 1, 9, 700_000, 3_000_000] as [Int64])
    func untyped(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size, contentType: nil)
            shop.server.serve("/a.bin", resource)
            let file = try await shop.get("/a.bin").file
            shop.expect(file.path, is: resource)
            #expect(file.totalBytes == size)
        }
    }

    @Test("Content type: a response without a type that sends no byte stalls and is requested again")
    func stalled() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000, contentType: nil)
            shop.server.serve("/a.bin", resource)
            shop.server.script("/a.bin", [.stall(after: 0)])
            // On a busy machine good responses stall too.
            let outcome = try await shop.get("/a.bin") {
                $0.stallTimeout = .milliseconds(300)
                $0.maxRetries = nil
            }
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.count >= 2)
        }
    }

    @Test("Mirrors: a source that sends a web page is left for the other one")
    func mirror() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            shop.server.serve("/portal/a.bin", resource)
            shop.server.always("/portal/a.bin", .htmlPage())
            let mirror = try DownloadURL(shop.server.url("/a.bin"))
            let outcome = try await shop.get("/portal/a.bin", { _ in }) { $0.sources.append(mirror) }
            try shop.expect(outcome.file.path, is: resource)
        }
    }

    @Test("Plan: an HTML response for a binary name is a dead link error")
    func plan() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.iso", Resource(size: 3_000_000))
            shop.server.always("/a.iso", .htmlPage())
            let manager = shop.manager()
            await #expect { _ = try await manager.plan(try shop.request("/a.iso")) } throws: {
                ($0 as? DownloadError)?.code == .freshLink
            }
            await manager.shutdown()
        }
    }
}
