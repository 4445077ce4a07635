import FerryCore
@testable import FerryFleet
import FerryTerminal
import Foundation
import Testing

@Suite("Rows of a fleet's lists") struct FleetRowTests {
    static func lease(
        _ name: String = "images", first: Int64 = 1, into directory: String = "/data"
    ) throws -> FleetLease {
        let row = ResultRows.Row(values: ["1", name, "open", directory, "2000000"])
        return FleetLease(number: 1, first: first, batch: try FleetBatch(row, from: 0))
    }

    private let anywhere = WorkerBounds(place: .directory("/"))

    @Test("FleetRow: the path has the number, so no two rows share one")
    func path() throws {
        let lease = try Self.lease(first: 1_234_001)
        let row = FleetRow(
            lease, number: 1_234_056, urls: "http://h.test/a/b.jpg?q\thttp://m.test/b", checksum: nil,
            within: anywhere)
        #expect(row.problem == nil)
        #expect(row.request.sources.map(\.text) == ["http://h.test/a/b.jpg?q", "http://m.test/b"])
        #expect(row.request.destination == .file("/data/images/1/234/1234056-b.jpg"))
        let long = String(repeating: "x", count: 400)
        let paths = [1, 2, 10, 100].map { number in
            FleetRow.path(
                in: lease.batch, number: number, (try? DownloadURL("http://h.test/\(long)")) ?? row.request.sources[0])
        }
        #expect(Set(paths).count == 4)
        #expect(paths.allSatisfy { Paths.name(of: $0).utf8.count <= 255 })
    }

    @Test(
        "FleetRow: with a prefix of objects the file has the same path as a key, and is below the worker's directory before",
        arguments: ["s3://bucket", "s3://bucket/", "s3://bucket/a", "s3://bucket/a/"])
    func object(directory: String) throws {
        let row = FleetRow(
            try Self.lease(into: directory), number: 56, urls: "http://h.test/a%20b.jpg", checksum: nil,
            within: try WorkerBounds(into: "s3://bucket", allowsObjects: false))
        let prefix = directory.hasSuffix("/") ? directory : directory + "/"
        #expect(row.request.uploadTo?.text == prefix + "images/0/0/56-a%20b.jpg")
        #expect(row.request.destination == .file("1-56"))
        #expect(row.problem == nil)
    }

    @Test(
        "FleetRow: what no list may have is no request, whoever wrote the row",
        arguments: [
            ("", nil), ("file:///etc/passwd", nil), ("http://h.test/a\n out=/etc/passwd", nil),
            ("http://user:word@h.test/", nil), ("http://h.test/a", "sha256:12"), ("# nothing", nil),
            ("http://h.test/\u{0}", nil), (String(repeating: "http://h.test/ ", count: 9000), nil),
        ] as [(String, String?)])
    func hostile(urls: String, checksum: String?) throws {
        let row = FleetRow(try Self.lease(), number: 1, urls: urls, checksum: checksum, within: anywhere)
        #expect(row.problem != nil)
        #expect(row.request.sources == [])
    }

    @Test(
        "FleetRow: a path of a URL stays below the directory", arguments: ["..", "%2e%2e%2f%2e%2e", "a%00b", ".part"])
    func confined(name: String) throws {
        let row = FleetRow(
            try Self.lease(), number: 5, urls: "http://h.test/\(name)", checksum: nil, within: anywhere)
        guard case .file(let path) = row.request.destination else { return #expect(row.problem != nil) }
        #expect(path.hasPrefix("/data/images/0/0/5-"))
        #expect(path.split(separator: "/").count == 5)
    }

    @Test(
        "FleetBatch: a batch of a name or directory that no batch may have is refused",
        arguments: [
            ("../x", "/data"), ("A", "/data"), ("", "/data"), ("a", "data"), ("a", "/data/../etc"), (".a", "/d"),
            ("a", "s3://"), ("a", "s3://b/?x"), ("a", "s3://b//x"), ("a", "https://h.test/"),
        ])
    func batches(name: String, directory: String) {
        #expect(throws: DatabaseError.self) {
            try FleetBatch(ResultRows.Row(values: ["1", name, "open", directory, "5"]), from: 0)
        }
    }

    @Test("FleetRow: secrets, names and columns of a list's entry are not stored")
    func columns() throws {
        func columns(_ text: String) throws -> String {
            var list = URLList()
            list.append(Array(text.utf8))
            list.finish()
            guard case .entry(let entry)? = list.next() else { return "no entry" }
            return try FleetRow.columns(of: entry).urls
        }
        #expect(try columns("http://h.test/a\thttp://m.test/a\n") == "http://h.test/a\thttp://m.test/a")
        for text in [
            "http://u:p@h.test/\n", "http://h.test/a\n  header=Cookie: a=b\n", "http://h.test/a\n  out=b\n",
            "http://h.test/a\tcat\n",
        ] {
            #expect(throws: TextError.self, "\(text)") { try columns(text) }
        }
    }

    @Test(
        "WorkerBounds: a row is a request only below --into",
        arguments: [
            ("/data", "/data", true), ("/data", "/data/a", true), ("/data", "/database", false), ("/data", "/", false),
            ("/data", "/other", false), ("/data", "s3://bucket/p", false), ("/d/../data/", "/data/a", true),
            ("s3://bucket/p", "s3://bucket/p", true), ("s3://bucket/p", "s3://bucket/p/q", true),
            ("s3://bucket/p", "s3://bucket/pq", false), ("s3://bucket/p", "s3://other/p", false),
            ("s3://bucket/p", "s3://bucket/p/../q", false), ("s3://bucket", "/data", false),
            ("/", "/data", true), ("/", "s3://bucket/p", false), ("/Data", "/data", false),
        ] as [(String, String, Bool)])
    func bounds(into: String, directory: String, isRequest: Bool) throws {
        let bounds = try WorkerBounds(into: into, allowsObjects: false)
        // The database has it, or Ferry refuses to read the batch.
        guard let lease = try? Self.lease(into: directory) else { return #expect(!isRequest) }
        let row = FleetRow(lease, number: 5, urls: "http://h.test/a", checksum: nil, within: bounds)
        #expect((row.problem == nil) == isRequest)
    }

    /// Such a result had no URL.
    @Test(
        "WorkerBounds: the result of a row outside the bounds has the row's URL, mirrors, checksum and path",
        arguments: [("/other", "/other/images/0/0/5-a"), ("s3://bucket/p", "s3://bucket/p/images/0/0/5-a")])
    func refused(directory: String, path: String) throws {
        let bounds = try WorkerBounds(into: "/data", allowsObjects: false)
        let row = FleetRow(
            try Self.lease(into: directory), number: 5, urls: "http://h.test/a\thttp://m.test/b",
            checksum: "md5:d41d8cd98f00b204e9800998ecf8427e", within: bounds)
        let error = DownloadError(.invalidRequest, try #require(row.problem), recovery: .needsUser)
        let line = ResultLine.failed(
            error, ResultSubject(request: row.request, place: nil), attempts: nil, Date(timeIntervalSince1970: 0))
        #expect(line.url == "http://h.test/a" && line.mirrors == ["http://m.test/b"])
        #expect(line.path == path && line.directory == nil)
        #expect(line.checksum == "md5=d41d8cd98f00b204e9800998ecf8427e")
    }

    @Test("WorkerBounds: objects of stores are no sources, unless they are allowed")
    func objects() throws {
        for (isAllowed, urls) in [
            (false, "s3://private/key"), (false, "http://h.test/a\ts3://private/key"), (true, "s3://private/key"),
        ] {
            let bounds = try WorkerBounds(into: "/data", allowsObjects: isAllowed)
            let row = FleetRow(try Self.lease(), number: 5, urls: urls, checksum: nil, within: bounds)
            #expect((row.problem == nil) == isAllowed)
        }
    }
}
