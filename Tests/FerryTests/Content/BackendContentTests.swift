import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryEngine

/// Reading a download's file with both backends: in this process, and through the daemon.
@Suite("Reading a download of every backend", .timeLimit(.minutes(30)))
struct BackendContentTests {
    @Test(
        "Content: the end of a large file is read while the first response is held, then the whole",
        arguments: BackendKind.allCases)
    func farEnd(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            let size: Int64 = 40_000_000
            let resource = Resource(size: size, contentType: "text/plain; charset=utf-8")
            home.server.serve("/a", resource)
            home.server.always("/a", .hold(after: 2_000_000, gate))
            let manager = home.manager()
            let download = try await manager.download(home.request("/a") { $0.maxConnections = 4 })
            let content = download.content
            let description = try await content.description()
            #expect(description.size == size)
            #expect(description.mediaType == "text/plain; charset=utf-8")
            #expect(description.entityTag == resource.etag)
            #expect(!description.isComplete)
            let end = size - 65536..<size
            #expect(try await read(content.bytes(in: end, of: description)) == resource.bytes(end))
            #expect(try await read(content.bytes(in: size..<size + 5)) == [])
            #expect(try await read(content.bytes(in: 5..<5)) == [])
            #expect(download.status.bytes < size / 2)
            gate.open()
            #expect(try await read(content.bytes()) == resource.bytes(0..<size))
            // The end of the whole is handed out when the file is complete.
            _ = try await download.finished()
            #expect(try await content.description().isComplete)
            #expect(try await read(content.bytes(in: 7..<1_000_000)) == resource.bytes(7..<1_000_000))
            await manager.shutdown()
        }
    }

    @Test(
        "Content: a pause, a removal and a failure end the reader with a clear error", arguments: BackendKind.allCases)
    func ends(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            home.shop.serve(["/a", "/b"], [])
            home.server.script("/a", [.hold(after: 1_000_000, gate)], then: .hold(gate))
            home.server.script("/b", [.hold(after: 1_000_000, gate)], then: .hold(gate))
            let manager = home.manager()
            for (path, code) in [("/a", DownloadError.Code.wrongState), ("/b", .notFound)] {
                let download = try await manager.download(home.request(path))
                await home.shop.reach(1_000_000, download)
                var iterator = download.content.bytes(in: 999_000..<2_000_000).makeAsyncIterator()
                #expect(try await iterator.next() != nil)
                if path == "/a" { try await download.pause() } else { try await download.remove() }
                #expect(await home.shop.code { while try await iterator.next() != nil {} } != nil)
                #expect(await home.shop.code { _ = try await download.content.description() } == code)
                if path == "/b" { #expect(await home.shop.code { _ = try await download.finished() } == .cancelled) }
            }
            home.server.remove("/c")
            let failed = try await manager.download(home.request("/c"))
            #expect(await home.shop.code { _ = try await read(failed.content.bytes()) } == .refused)
            await manager.shutdown()
        }
    }

    @Test(
        "Content: when the server's file changes, a reader ends, and a new one gets the new file",
        arguments: BackendKind.allCases)
    func changes(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            let old = home.shop.serve(["/a"], [.all(.cut(after: 2_000_000, .reset), .hold(after: 1_900_000, gate))])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            let description = try await download.content.description()
            home.server.update("/a") { $0 = Resource(size: 3_000_000, seed: 9) }
            let new = try #require(home.server.resource("/a"))
            gate.open()
            var all: [UInt8] = []
            let code = await home.shop.code {
                for try await piece in download.content.bytes(of: description) { all += piece }
            }
            #expect(code == .remoteChanged)
            #expect(all == old.bytes(0..<Int64(all.count)))
            #expect(try await read(download.content.bytes()) == new.bytes(0..<3_000_000))
            let other = await home.shop.code { _ = try await read(download.content.bytes(of: description)) }
            #expect(other == .remoteChanged)
            await manager.shutdown()
        }
    }

    @Test("Content: with a wrong digest a read of the whole fails before its end", arguments: BackendKind.allCases)
    func wrongDigest(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            home.shop.serve(["/a"])
            let manager = home.manager()
            let wrong = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            let download = try await manager.download(home.request("/a") { $0.checksum = wrong })
            var count = 0
            let code = await home.shop.code { for try await piece in download.content.bytes() { count += piece.count } }
            #expect(code == .checksum)
            #expect(count < 3_000_000)
            await manager.shutdown()
        }
    }

    @Test("Content: bytes found to be wrong after they were read end the reader", arguments: BackendKind.allCases)
    func wrongContentDigest(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            let resource = home.shop.serve(["/a"], [.all(.wrongContentDigest, .hold(after: 1_000_000, gate))])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            var iterator = download.content.bytes(in: 0..<3_000_000).makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first == resource.bytes(0..<Int64(first.count)))
            gate.open()
            let code = await home.shop.code { while try await iterator.next() != nil {} }
            #expect(code == (kind == .local ? .checksum : .remoteChanged))
            #expect(try await read(download.content.bytes()) == resource.bytes(0..<3_000_000))
            await manager.shutdown()
        }
    }

    @Test("Content: a file of unknown length is read in order, a part of it too", arguments: BackendKind.allCases)
    func unknownLength(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let resource = home.shop.serve(["/a"])
            home.server.script("/a", [], then: .all(.ignoreRange, .chunked()))
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            async let part = read(download.content.bytes(in: 2_900_000..<2_950_000))
            #expect(try await read(download.content.bytes()) == resource.bytes(0..<3_000_000))
            #expect(try await part == resource.bytes(2_900_000..<2_950_000))
            await manager.shutdown()
        }
    }

    @Test(
        "Content: a cancelled reader ends although no byte comes, and one of a closed manager",
        arguments: BackendKind.allCases)
    func cancelled(kind: BackendKind) async throws {
        try await BackendHome.run(kind) { home in
            let gate = Gate()
            home.shop.serve(["/a"], [])
            home.server.script("/a", [.hold(after: 1_000_000, gate)], then: .hold(gate))
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            let task = Task { try await read(download.content.bytes(in: 1_500_000..<2_000_000)) }
            let working = await home.shop.code { _ = try await read(download.content.bytes(in: 0..<900_000)) }
            #expect(working == nil)
            task.cancel()
            #expect(await home.shop.code { _ = try await task.value } == .cancelled)
            await manager.shutdown()
            #expect(await home.shop.code { _ = try await download.content.description() } == .shutDown)
            gate.open()
        }
    }

    @Test("Content: readers go on with the same file after a restart of the daemon, up to its verified end")
    func restarted() async throws {
        try await BackendHome.run(.daemon) { home in
            let daemon = try #require(home.daemon)
            let gate = Gate()
            let resource = home.shop.serve(["/a"], [])
            home.server.script("/a", [.hold(after: 1_000_000, gate)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            var whole = download.content.bytes().makeAsyncIterator()
            var part = download.content.bytes(in: 500_000..<2_500_000).makeAsyncIterator()
            var (all, some) = (try await whole.next() ?? [], try await part.next() ?? [])
            #expect(!all.isEmpty && !some.isEmpty)
            try await daemon.stop()
            try await daemon.start()
            gate.open()
            while let piece = try await whole.next() { all += piece }
            while let piece = try await part.next() { some += piece }
            #expect(all == resource.bytes(0..<3_000_000))
            #expect(some == resource.bytes(500_000..<2_500_000))
            #expect(try await download.finished().totalBytes == 3_000_000)
            await manager.shutdown()
        }
    }

    @Test("Content: a reader ends if the server's file changes while the daemon is away")
    func changedMeanwhile() async throws {
        try await BackendHome.run(.daemon) { home in
            let daemon = try #require(home.daemon)
            let gate = Gate()
            let old = home.shop.serve(["/a"], [])
            home.server.script("/a", [.hold(after: 1_000_000, gate)])
            let manager = home.manager()
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            var whole = download.content.bytes().makeAsyncIterator()
            var all = try await whole.next() ?? []
            try await daemon.stop()
            home.server.update("/a") { $0 = Resource(size: 3_000_000, seed: 9) }
            try await daemon.start()
            gate.open()
            let code = await home.shop.code { while let piece = try await whole.next() { all += piece } }
            #expect(code == .remoteChanged)
            #expect(all == old.bytes(0..<Int64(all.count)))
            await manager.shutdown()
        }
    }
}
