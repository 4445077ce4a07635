import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import NIOCore
import Testing

/// An origin and a transport for one test, shut down also after an error.
func withOrigin<T: Sendable>(
    _ configuration: OriginServer.Configuration = .init(), settings: TransferSettings = TransferSettings(),
    _ body: (OriginServer, HTTPTransport) async throws -> T
) async throws -> T {
    try await OriginServer.with(configuration) { server in
        let transport = HTTPTransport(settings)
        do {
            let result = try await body(server, transport)
            await transport.shutdown()
            return result
        } catch {
            await transport.shutdown()
            throw error
        }
    }
}

extension OriginServer {
    func downloadURL(_ path: String, host: String? = nil) throws -> DownloadURL {
        try DownloadURL(url(path, host: host))
    }
}

extension TransferBody {
    /// All the bytes to the end.
    func collect() async throws(TransferFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await next() { bytes += part.readableBytesView }
        return bytes
    }
}

extension HTTPTransport {
    /// The failure of a fetch, its body included; `nil` when there is none.
    func failure(of request: TransferRequest) async -> TransferFailure? {
        do {
            _ = try await fetch(request).body.collect()
            return nil
        } catch {
            return error
        }
    }
}

/// The file of the test authority's certificate, for as long as the body runs.
func withAuthorityFile<T>(_ body: (String) async throws -> T) async throws -> T {
    let path = NSTemporaryDirectory() + "/ferry-ca-\(UUID().uuidString).pem"
    try OriginServer.caPEM.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
