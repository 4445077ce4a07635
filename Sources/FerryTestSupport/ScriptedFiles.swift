public import Ferry
import FerryEngine
import HTTPTypes
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A transport that serves scripted files for every host, in place of real servers.
final class ScriptedFiles: Transport {
    private let files: [ScriptedFile]
    /// The temporary directory that is deleted with this object; `nil` for none.
    private let temporary: String?

    init(_ files: [ScriptedFile], temporary: String?) {
        self.files = files
        self.temporary = temporary
    }

    deinit { if let temporary { try? FileManager.default.removeItem(atPath: temporary) } }

    func shutdown() async {}

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        guard !Task.isCancelled else { throw Self.cancelled }
        let response = ScriptedResponse(to: request.url.path, request.fields, of: files)
        var head = ResponseHead(status: response.status, headers: response.fields)
        if response.status != 304 {
            head.headers[.contentLength] = "\(response.range.upperBound - response.range.lowerBound)"
        }
        let body = Body(response.file.map { ScriptedBody($0, response.range) })
        return TransferResponse(
            head: head, url: request.url,
            body: TransferBody { () async throws(TransferFailure) -> ByteBuffer? in try await body.next() })
    }

    private static var cancelled: TransferFailure { TransferFailure(.cancelled, ErrorPhrase(.stopped)) }

    private final class Body: Sendable {
        private let rest: Mutex<ScriptedBody?>

        init(_ body: ScriptedBody?) { rest = Mutex(body) }

        func next() async throws(TransferFailure) -> ByteBuffer? {
            let step = rest.withLock { $0?.next() } ?? .end
            switch step {
            case .end: return nil
            case .stop:
                // Waits until the transfer is cancelled.
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            case .piece(let bytes, let pause):
                if pause > .zero { try? await Task.sleep(for: pause) }
                if !Task.isCancelled { return ByteBuffer(bytes: bytes) }
            }
            throw ScriptedFiles.cancelled
        }
    }
}

extension DownloadManager.Configuration {
    /// Returns a configuration for previews and tests: downloads from every host come from `files`, by the paths of their URLs;
    /// other paths are answered with 404. Everything else works as usual: queue, states, events, resuming, files.
    ///
    /// ```swift
    /// let film = ScriptedFile("/film.mp4", bytes: 20_000_000, pace: .stops(at: 8_000_000))
    /// let manager = DownloadManager(.scripted([film, .refused("/gone.zip")]))
    /// let download = try await manager.download(from: film.url)          // stays at 40 %
    /// ```
    ///
    /// The network is always online. To test the rules of an app for other networks, set
    /// ``DownloadManager/Configuration/networkIsMetered`` or ``DownloadManager/Configuration/networkIsConstrained``, at any time:
    ///
    /// ```swift
    /// await manager.configure {
    ///     $0.allowsMeteredNetwork = false
    ///     $0.networkIsMetered = true
    /// }                                                                   // the download waits for another network
    /// ```
    ///
    /// - Parameters:
    ///   - files: The files that can be downloaded.
    ///   - directory: The directory for downloads. Default `nil`: a temporary directory, which is deleted when the manager and its
    ///     downloads have been released.
    public static func scripted(_ files: [ScriptedFile], directory: String? = nil) -> DownloadManager.Configuration {
        let temporary = FileManager.default.temporaryDirectory.path + "/ferry-scripted-\(UUID().uuidString)"
        let place = directory ?? temporary
        var configuration = DownloadManager.Configuration.default(
            identifier: "scripted", directory: place, stateDirectory: temporary + "/list")
        configuration.monitor = { ScriptedNetwork($0) }
        configuration.minFreeBytes = 0
        // A body that stops is part of the script, not a stall.
        configuration.stallTimeout = .seconds(7 * 24 * 3600)
        configuration.transfer.connectionsPerHost = 1
        let scripted = ScriptedFiles(files, temporary: temporary)
        configuration.engine = EngineProvider { configuration in
            EngineEnvironment(
                transport: scripted, throttle: Throttle(rate: configuration.rateLimit, clock: SystemClock()),
                connectionsPerHost: configuration.transfer.connectionsPerHost)
        }
        return configuration
    }
}
