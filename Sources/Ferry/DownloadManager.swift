import FerryEngine
public import Foundation

/// Runs downloads: at most ``Configuration/maxConcurrentDownloads`` at a time, the rest waits its turn.
///
/// ```swift
/// let manager = DownloadManager(.ephemeral)
/// let download = try await manager.download(DownloadRequest(sources: [url], destination: .directory("/tmp")))
/// let file = try await download.finished()
/// await manager.shutdown()
/// ```
public final class DownloadManager: Sendable {
    private let queue: Queue
    private let engine: EngineProvider

    /// Nothing is opened before the first download.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, engine: EngineProvider())
    }

    init(_ configuration: Configuration, engine: EngineProvider) {
        self.engine = engine
        queue = Queue(configuration: configuration, engine: engine)
    }

    /// Adds a download; it runs when there is a slot.
    ///
    /// Throws what can be known before a byte is fetched: no URL, a directory that cannot be written to.
    public func download(_ request: DownloadRequest) async throws(DownloadError) -> Download {
        if queue.isShutDown { throw DownloadError(.shutDown, "this download manager was shut down") }
        let request = try checked(request)
        let id = DownloadID(rawValue: Self.makeID())
        let name = request.sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? Self.lastName(request)
        let download = Download(id: id, request: request, name: name, queue: queue)
        queue.add(download)
        return download
    }

    /// Adds a download from one URL into a directory; by default the working directory.
    public func download(from url: URL, into directory: URL? = nil) async throws(DownloadError) -> Download {
        let source: DownloadURL
        do throws(DownloadURL.ParseError) {
            source = try DownloadURL(url.absoluteString)
        } catch { throw DownloadError(.invalidRequest, error.message) }
        let directory = directory?.path ?? FileManager.default.currentDirectoryPath
        return try await download(DownloadRequest(sources: [source], destination: .directory(directory)))
    }

    /// Everything that happens to every download from now on, in order, none lost.
    public func events() -> AsyncStream<DownloadEvent> { queue.hub.stream() }

    /// Changes limits at once. Connection settings count until the first download has begun.
    public func configure(_ change: @Sendable (inout Configuration) -> Void) async { queue.configure(change) }

    /// Stops all downloads, makes what they have safe, lets go of everything. Handles end with `shutDown`.
    public func shutdown() async { await queue.shutdown() }

    /// The journals in a directory, by the path of their part file, sorted; each can be gone on with as
    /// ``DownloadRequest/Destination/part(_:)``.
    public func partFiles(in directory: String) throws(DownloadError) -> [String] {
        try PartFiles.list(in: Self.absolute(directory))
    }

    /// Asks the server what the download would be; writes nothing.
    public func plan(_ request: DownloadRequest) async throws(DownloadError) -> DownloadPlan {
        let request = try checked(request, writes: false)
        let configuration = queue.configuration
        return try await DownloadPlanner(
            request: request, environment: engine.environment(for: configuration),
            headLimit: configuration.stallTimeout
        ).plan()
    }

    // MARK: Checking

    private func checked(_ request: DownloadRequest, writes: Bool = true) throws(DownloadError) -> DownloadRequest {
        var request = request
        request.maxConnections = max(1, request.maxConnections)
        switch request.destination {
        case .file(let path): request.destination = .file(Self.absolute(path))
        case .directory(let path, let name): request.destination = .directory(Self.absolute(path), name: name)
        case .part(let path): request.destination = .part(Self.absolute(path))
        case .stream: break
        }
        if request.sources.isEmpty {
            guard case .part = request.destination else { throw DownloadError(.invalidRequest, "no URL was given") }
        }
        if writes { try PartFiles.checkWritable(request.destination) }
        return request
    }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private static func lastName(_ request: DownloadRequest) -> String {
        if case .part(let path) = request.destination {
            return path.split(separator: "/").last.map(String.init) ?? path
        }
        return "download"
    }

    /// 64 random bits, as 16 hexadecimal digits.
    private static func makeID() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
