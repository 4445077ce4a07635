import FerryTesting

@testable import Ferry
@testable import FerryEngine

/// A transport that reaches the test's origin under another host name, which is not local for the queue.
struct FarTransport: Transport {
    let near: HTTPTransport
    let host: String

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        var request = request
        let text = request.url.text.replacing("//\(host):", with: "//127.0.0.1:")
        if let url = try? DownloadURL(text) { request.url = url }
        return try await near.fetch(request)
    }

    func shutdown() async { await near.shutdown() }
    func renew() { near.renew() }
    func limitPieces(to bytes: Int?) { near.limitPieces(to: bytes) }
}

extension EngineProvider {
    /// An engine that reaches the test's origin under this host; the queue uses this clock.
    static func far(_ host: String = "files.example", clock: any EngineClock = SystemClock()) -> EngineProvider {
        EngineProvider(clock: clock) { configuration in
            EngineEnvironment(
                transport: FarTransport(near: HTTPTransport(configuration.transfer), host: host),
                random: { 0 })
        }
    }
}

extension Workshop {
    /// A request to the origin under its host name.
    func far(
        _ path: String, host: String = "files.example", _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> DownloadRequest {
        try single(path) {
            let text = server.url(path).replacing("//127.0.0.1:", with: "//\(host):")
            if let url = try? DownloadURL(text) { $0.sources = [url] }
            change(&$0)
        }
    }
}
