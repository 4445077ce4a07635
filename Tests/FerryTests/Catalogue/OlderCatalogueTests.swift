import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Catalogue of an earlier version")
struct OlderCatalogueTests {
    /// Rows as the first version of the schema had them.
    private static let rows: [(id: String, state: String, details: String?, request: String)] = [
        (
            "done", "completed", #"{"kind":"completed","proof":"single"}"#,
            #"{"destination":{"directory":"."},"sources":["http://h/done.bin"]}"#
        ),
        (
            "paused", "paused", nil,
            #"{"destination":{"file":"x/exact.bin"},"hasSecrets":true,"checksumList":"http://h/sums","#
                + #""notBefore":1893456000.25,"onDuplicate":"addAnother","sources":["http://h/p"],"startsPaused":true}"#
        ),
        ("crashed", "paused", #""crashes""#, #"{"destination":{"part":"/p/c.part"},"sources":[],"root":"/p"}"#),
        ("offline", "waiting.network", nil, #"{"destination":{"directory":"."},"sources":["http://h/o"]}"#),
        (
            "later", "waiting.notBefore", #"{"kind":"waiting","wait":{"at":1893456000,"kind":"notBefore"}}"#,
            #"{"destination":{"directory":"."},"notBefore":1893456000,"sources":["http://h/l"]}"#
        ),
        (
            "failed", "failed",
            #"{"error":{"code":"disk","message":"EIO","recovery":{"kind":"needsUser"}},"kind":"failed"}"#,
            #"{"checksum":"md5=00000000000000000000000000000000","destination":{"directory":"/e","name":"na me"},"#
                + #""headers":[["Accept","a/b"],["User-Agent","ua"],["Accept","c/d"]],"maxBytes":999999,"#
                + #""maxConnections":3,"network":{"allowsMetered":false,"allowsPrivate":true},"onConflict":"overwrite","#
                + #""rateLimit":5000,"sources":["http://h/bad.bin","http://h/mirror"],"syncsToDisk":false,"#
                + #""trust":{"acceptsHTML":true,"allowsDowngrade":false,"allowsUnprovenParts":false,"#
                + #""failsOnChange":false,"resumesUnproven":false,"strict":true}}"#
        ),
        ("running", "downloading", nil, #"{"destination":{"directory":"."},"sources":["http://h/r"]}"#),
    ]

    private func make(_ directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory + "/state", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let db = try Database(path: directory + "/state/catalogue.sqlite")
        try CatalogueSchema.migrate(db, downloads: directory + "/files", upTo: "1 downloads, events, history")
        try db.transaction {
            for (index, row) in Self.rows.enumerated() {
                try db.run(
                    """
                    INSERT INTO download (id, session, priority, position, state, details, completed, attempts,
                        host, name, createdAt, url, place, request)
                    VALUES (?, 'app', 0, ?, ?, ?, 5, 0, 'h', 'n', 1.5, 'http://h/', 'directory .', ?)
                    """, [row.id, index, row.state, row.details, row.request])
            }
            for (number, kind) in [
                #"{"kind":"waiting","message":"m","wait":{"at":1893456000,"kind":"retry"}}"#,
                #"{"kind":"waiting","message":"m","phrase":["noNetworkAllowed"],"wait":{"kind":"network"}}"#,
                #"{"kind":"note","text":"t"}"#,
            ].enumerated() {
                try db.run("INSERT INTO history VALUES (?, 'done', 2, ?)", [number + 1, kind])
            }
        }
        try db.close()
    }

    @Test("Catalogue: what the first version wrote is read by this one")
    func readable() async throws {
        try await StoreBench.withDirectory { directory in
            try make(directory)
            let catalogue = try await StoreBench.open(directory).catalogue
            let rows = try await catalogue.page(.all, offset: 0, limit: 100)
            #expect(rows.map(\.id.rawValue) == Self.rows.map(\.id))
            #expect(
                rows.map(\.state) == [
                    .completed(.single), .paused, .paused, .waiting(.network),
                    .waiting(.notBefore(Date(timeIntervalSince1970: 1_893_456_000))),
                    .failed(DownloadError(.disk, "EIO", recovery: .needsUser)), .downloading,
                ])
            #expect(rows.map(\.pauseReason) == [nil, nil, .crashes, nil, nil, nil, nil])
            #expect(rows.map(\.hasSecrets) == [false, true, false, false, false, false, false])
            let here = rows[0].request.destination
            let downloads = directory + "/files"
            #expect(here == .directory(downloads))
            var paused = DownloadRequest(
                sources: [try DownloadURL("http://h/p")], destination: .file(downloads + "/x/exact.bin"))
            paused.checksumList = try DownloadURL("http://h/sums")
            paused.notBefore = Date(timeIntervalSince1970: 1_893_456_000.25)
            paused.onDuplicate = .addAnother
            paused.startsPaused = true
            #expect(rows[1].request == paused)
            var crashed = DownloadRequest(sources: [], destination: .part("/p/c.part"))
            crashed.root = "/p"
            #expect(rows[2].request == crashed)
            var failed = DownloadRequest(
                sources: [try DownloadURL("http://h/bad.bin"), try DownloadURL("http://h/mirror")],
                destination: .directory("/e", name: .exact("na me")))
            failed.checksum = Checksum(algorithm: .md5, bytes: Array(repeating: 0, count: 16))
            failed.headers[values: .accept] = ["a/b", "c/d"]
            failed.headers[.userAgent] = "ua"
            failed.maxBytes = 999_999
            failed.maxConnections = 3
            failed.network = NetworkRule(allowsMetered: false, allowsPrivate: true)
            failed.onConflict = .overwrite
            failed.rateLimit = 5000
            failed.syncsToDisk = false
            failed.trust.acceptsHTML = true
            failed.trust.strict = true
            #expect(rows[5].request == failed)
            let history = try await catalogue.history(of: "done")
            #expect(
                history.map(\.kind) == [
                    .waiting(.retry(at: Date(timeIntervalSince1970: 1_893_456_000)), message: "m"),
                    .waiting(.network, message: "m"), .note("t"),
                ])
            await catalogue.close()
            // Opened once more, nothing is changed again.
            let again = try await StoreBench.open(directory).catalogue
            #expect(try await again.page(.all, offset: 0, limit: 100) == rows)
            await again.close()
        }
    }
}
