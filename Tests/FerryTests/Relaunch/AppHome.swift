import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

/// The files that outlive the processes of one app: downloads and state, in a workshop's directory.
struct AppHome: Sendable {
    let shop: Workshop
    var downloads = "downloads"

    var server: OriginServer { shop.server }
    var directory: String { shop.path(downloads) }
    var state: String { shop.path("state") }

    /// Runs a body with a home of its own.
    static func run(
        _ configuration: OriginServer.Configuration = OriginServer.Configuration(),
        _ body: @Sendable (AppHome) async throws -> Void
    ) async throws {
        try await Workshop.run(configuration) { shop in
            let home = AppHome(shop: shop)
            try FileManager.default.createDirectory(atPath: home.directory, withIntermediateDirectories: true)
            try await body(home)
        }
    }

    /// Starts the app.
    func app(
        limit: Int = 3, storesCredentials: Bool = true, events: String = "print", delegate: String = "none",
        trapsOn path: String? = nil, shell: String? = nil
    ) throws -> AppProcess {
        var settings: [String: any Sendable] = [
            "identifier": "test", "directory": directory, "state": state, "limit": limit,
            "storesCredentials": storesCredentials, "events": events, "delegate": delegate,
        ]
        settings["trapsOn"] = path
        return try AppProcess(settings: settings, shell: shell)
    }

    /// Adds a download under its path's name and waits until the server stalls after `bytes`; these are claimed then,
    /// and the download waits for more.
    func begin(
        _ name: String, in app: AppProcess, bytes: Int64, _ fields: [String: any Sendable] = [:]
    ) async throws {
        server.always("/" + name, .stall(after: bytes))
        try await app.ask("add", fields.merging(["id": name, "url": server.url("/" + name)]) { $1 })
        try await app.ask("wait", ["id": name, "bytes": bytes])
        // A pause makes it durable.
        try await app.ask("pause", ["id": name])
        try await app.ask("resume", ["id": name])
        // The resumed response stalls after as many bytes again: the download runs.
        try await app.ask("wait", ["id": name, "bytes": 2 * bytes])
    }

    /// The bytes that the journal of a part file claims.
    func claimed(_ name: String) -> Int64 {
        PartFiles.held(
            at: directory + "/" + name, by: DownloadID(rawValue: name), fileSystem: LocalFileSystem())?
            .completedBytes ?? 0
    }

    /// The names in the directory of downloads.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted() }

    /// The files below the home, apart from `secrets/`, that hold one of these texts.
    func files(with texts: [String]) -> [String] {
        let all = FileManager.default.enumerator(atPath: shop.directory)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            if name.contains("/secrets/") { return false }
            guard let data = FileManager.default.contents(atPath: shop.path(name)) else { return false }
            return texts.contains { data.range(of: Data($0.utf8)) != nil }
        }
    }

    /// The mode of a file below the home.
    func mode(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }
}
