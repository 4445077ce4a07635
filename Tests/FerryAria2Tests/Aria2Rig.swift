import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryAria2

/// A daemon with aria2's interface, and its calls.
extension DaemonRig {
    static let secret = "sésame 1"

    static func runWithAria2(
        settings: String? = nil, _ configure: @Sendable (inout Daemon.Options) -> Void = { _ in },
        _ body: @Sendable (DaemonRig) async throws -> Void
    ) async throws {
        try await run(
            settings: settings,
            { options in
                options.doors = [.aria2]
                options.flags[.aria2Rpc] = .whole(0)
                options.flags[.aria2Secret] = .text(secret)
                options.limits.wrongToken = .zero
                configure(&options)
            }, body)
    }

    var aria2Port: Int {
        get throws { try #require(addresses.doors["aria2"]) }
    }

    /// Sends a body to `/jsonrpc` without any field but those of the client.
    func post(_ body: String, headers: [String: String] = [:]) async throws -> Reply {
        try await send("POST", "/jsonrpc", headers: headers, body: Data(body.utf8), port: try aria2Port)
    }

    func post(_ value: JSONValue) async throws -> Reply {
        try await post(String(decoding: try JSONCoding.encode(value), as: UTF8.self))
    }

    /// Calls a method with the token, and returns its result.
    @discardableResult
    func aria2(
        _ method: Aria2Method, _ params: JSONValue..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let reply = try await post(Self.call(method.rawValue, params))
        #expect(reply.status == 200, "\(reply.text)", sourceLocation: sourceLocation)
        return try #require(try JSONValue(reply.data)["result"], "\(reply.text)", sourceLocation: sourceLocation)
    }

    /// Calls a method that is refused, and returns the message.
    func refusal(
        of method: Aria2Method, _ params: JSONValue..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String? {
        let reply = try await post(Self.call(method.rawValue, params))
        #expect(reply.status == 400, "\(reply.text)", sourceLocation: sourceLocation)
        let error = try JSONValue(reply.data)["error"]
        #expect(error?["code"] == .whole(1), "\(reply.text)", sourceLocation: sourceLocation)
        return error?["message"]?.string
    }

    static func call(_ method: String, _ params: [JSONValue], token: String? = secret, id: JSONValue = "1") -> JSONValue
    {
        [
            "jsonrpc": "2.0", "id": id, "method": .text(method),
            "params": .list((token.map { [.text("token:" + $0)] } ?? []) + params),
        ]
    }

    /// Adds a download of these paths, and returns its gid.
    func addUri(_ paths: String..., options: [String: JSONValue] = [:]) async throws -> JSONValue {
        try await aria2(.addUri, .list(paths.map { .text(url($0)) }), .object(options))
    }

    /// Waits until the download with this gid has the state, or ends.
    func reach(_ state: String, gid: JSONValue) async throws -> ListedDownload {
        try await reach(state, try #require(gid.string.flatMap { Aria2GID($0) }).id)
    }

    /// A download that has received 2 MiB of 8 and gets no more.
    func held(_ path: String, options: [String: JSONValue] = [:]) async throws -> JSONValue {
        origin.serve(path, Resource(size: 8 << 20, seed: 6))
        origin.always(path, .stall(after: 2 << 20))
        let gid = try await addUri(path, options: ["split": "1"].merging(options) { $1 })
        let id = try #require(gid.string.flatMap { Aria2GID($0) }).id
        let download = try #require(try await daemon.manager.download(id: id))
        for await status in download.updates where status.progress.completedBytes >= 2 << 20 { break }
        return gid
    }

    /// As ``held(_:options:)``; its link is dead then, so that it waits for another.
    func heldUntilDead(_ path: String) async throws -> JSONValue {
        let gid = try await held(path)
        let id = try #require(gid.string.flatMap { Aria2GID($0) }).id
        let download = try #require(try await daemon.manager.download(id: id))
        origin.always(path, .status(410))
        try await download.pause()
        try await download.resume()
        for await status in download.updates where status.state == .waiting(.freshLink) { break }
        return gid
    }
}
