import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// File names that servers give (A39–A42).
@Suite("File names given by a server", .timeLimit(.minutes(30)))
struct NameRowTests {
    static let long = String(repeating: "x", count: 4000)

    /// The row, the Content-Disposition, and the name on the disk; the URL is /path.bin.
    static let names: [(String, String, String)] = [
        ("A39", "attachment; filename=\"../../../../tmp/evil\"", "evil"),
        ("A39", "attachment; filename=\"/etc/x\"", "x"),
        ("A39", "attachment; filename=\"a\\\\..\\\\b\"", "b"),
        ("A39", "attachment; filename=\"..\"", "path.bin"),
        ("A39", "attachment; filename=\"/\"", "path.bin"),
        ("A39", "attachment; filename*=UTF-8''%2e%2e%2F%2e%2e%2Fz", "z"),
        ("A39", "attachment; filename*=UTF-8''..%5C..%5Cz", "z"),
        ("A39", "attachment; filename*=UTF-8''a%2Fb%2Fc.txt", "c.txt"),
        ("A40", "attachment; filename*=UTF-8''a%00b%1Bc%0Ad", "a_b_c_d"),
        ("A40", "attachment; filename*=UTF-8''a%E2%80%AEgpj.exe", "a_gpj.exe"),
        ("A40", "attachment; filename=\"-rf\"", "_rf"),
        ("A40", "attachment; filename=\".bashrc\"", "_bashrc"),
        ("A40", "attachment; filename=\"a.txt. . \"", "a.txt"),
        ("A40", "attachment; filename=\"con.txt\"", "con_.txt"),
        ("A40", "attachment; filename=\"a.part.ferry\"", "a.part.ferry_"),
        ("A40", "attachment; filename=\"\(long).tar.gz\"", String(repeating: "x", count: 227) + ".tar.gz"),
        ("A41", "attachment; filename=one; filename=two", "path.bin"),
        ("A41", "attachment; filename=\"unclosed.txt", "path.bin"),
        ("A41", "attachment; filename*=KLINGON''x; filename=plain.txt", "plain.txt"),
        ("A41", "attachment; filename*=UTF-8''%ZZ%; filename=plain.txt", "plain.txt"),
        ("A41", "attachment; filename*=; filename=", "path.bin"),
        ("A41", "filename", "path.bin"),
    ]

    @Test(
        "File name: raw bytes that are no UTF-8 are read as GB 18030 or as Latin-1 (A73)",
        arguments: [("caf\u{E9}.bin", "café.bin"), ("\u{B1}\u{A8}\u{B8}\u{E6}.bin", "报告.bin")])
    func rawBytes(sent: String, name: String) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 100_000, contentDisposition: "attachment; filename=\"\(sent)\"")
            shop.server.serve("/path.bin", resource)
            shop.server.always("/path.bin", .latin1)
            let file = try await shop.get("/path.bin", engine: shop.engine()).file
            #expect(file.path == shop.path(name))
            shop.expect(file.path, is: resource)
        }
    }

    @Test(
        "File name: unsafe names are made safe, stay in the directory, and leave room for suffixes (A39, A40, A41)",
        arguments: names)
    func safe(row: String, disposition: String, name: String) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 1_500_000, contentDisposition: disposition)
            shop.server.serve("/path.bin", resource)
            // The cut leaves part file and journal on the disk for a while.
            shop.server.script("/path.bin", [.cut(after: 1_200_000)])
            let outcome = try await shop.get("/path.bin", engine: shop.engine())
            let file = try outcome.file
            #expect(file.path == shop.path(name), "\(row)")
            shop.expect(file.path, is: resource)
            #expect(shop.names == [name])
            #expect(shop.server.bodyBytes() == resource.size)
        }
    }

    @Test(
        "File name: an unsafe name from the URL is made safe (A39)",
        arguments: [("/a%2F..%2Fb.bin", "b.bin"), ("/", "download")])
    func fromURL(path: String, name: String) async throws {
        try await Workshop.run { shop in
            shop.server.serve(path, Resource(size: 10_000))
            let file = try await shop.get(path, engine: shop.engine()).file
            #expect(file.path == shop.path(name))
        }
    }

    @Test(
        "File name: a name in use, before or during the download, is not overwritten but numbered (A42)",
        arguments: [10_000, 3_000_000] as [Int64], [false, true])
    func taken(size: Int64, isThereBefore: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size, contentDisposition: "attachment; filename=x.tar.gz")
            let gate = Gate()
            shop.server.serve("/a", resource)
            shop.server.script("/a", [.hold(after: size / 2, gate)])
            if isThereBefore { try shop.write("mine", to: "x.tar.gz") }
            let manager = shop.manager()
            let download = try await manager.download(try shop.request("/a"))
            await shop.reach(size / 2, download)
            if !isThereBefore { try shop.write("mine", to: "x.tar.gz") }
            gate.open()
            let file = try await download.finished()
            await manager.shutdown()
            #expect(file.path == shop.path("x (1).tar.gz"))
            shop.expect(file.path, is: resource)
            #expect(shop.names == ["x (1).tar.gz", "x.tar.gz"])
            #expect(shop.text("x.tar.gz") == "mine")
        }
    }
}
