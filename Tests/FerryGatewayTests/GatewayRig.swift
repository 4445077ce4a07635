import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway
@testable import FerryServer

/// A daemon with a gateway before its own origin, and requests to it.
extension DaemonRig {
    /// Runs a body with a gateway whose upstreams are paths of the origin; the directory is kept for a second start.
    static func runWithGateway(
        _ upstreams: [String] = ["pypi=/simple/", "hf=/hub/", "oci=/"],
        limits change: (inout GatewayLimits) -> Void = { _ in },
        configure: @escaping @Sendable (inout Daemon.Options) -> Void = { _ in },
        then again: (@Sendable (DaemonRig) async throws -> Void)? = nil,
        _ body: @escaping @Sendable (DaemonRig) async throws -> Void
    ) async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var limits = GatewayLimits()
        // Tests are slower than clients that ask again.
        limits.wrongDigestTime = .seconds(3600)
        change(&limits)
        let kind = DoorKind.gatewayKind(limits)
        try await OriginServer.with { origin in
            for body in [body] + [again].compactMap(\.self) {
                try await serve(
                    directory, origin,
                    { options in
                        options.doors = [kind]
                        options.flags[.gateway] = .flag(true)
                        options.flags[.gatewayPort] = .whole(0)
                        options.flags[.gatewayUpstreams] = .list(
                            upstreams.map { .text($0.replacing("=/", with: "=" + origin.url("/"))) })
                        configure(&options)
                    }, body)
            }
        }
    }

    /// Sends a request to the gateway.
    func gateway(_ path: String, _ method: String = "GET", _ headers: [String: String] = [:]) async throws -> Reply {
        let port = try #require(addresses.doors["gateway"])
        return try await send(method, path, headers: headers, port: port)
    }

    /// The gateway's downloads.
    func cached() async throws -> [ListedDownload] {
        try await ask(.list, session: "gateway").shape(DownloadPage.self).items
    }
}

extension Daemon {
    /// The gateway, if it is open.
    var gateway: GatewayResponder? { doors.all.lazy.compactMap { $0 as? GatewayResponder }.first }
}
