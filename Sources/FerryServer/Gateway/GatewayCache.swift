import CFerry
import Ferry
import FerryAPI
import FerryCore
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files that clients of the gateway have asked for: downloads of a session of their own, and their least recently
/// used ones removed beyond a size and an age.
///
/// The list of downloads is the index of the cache. A download that is held by a client, or that runs, is never
/// removed.
final class GatewayCache: Sendable {
    /// The session of the downloads.
    static let session = "gateway"

    private struct State {
        /// The number of clients of each download.
        var held: [DownloadID: Int] = [:]
        /// When each was last asked for, in seconds since 1970.
        var uses: [String: Double] = [:]
    }

    let manager: DownloadManager
    let directory: String
    private let size: ByteCount
    private let age: Duration
    private let logger: Logger
    /// When each file was last used; of files that it does not have, the dates of their downloads count.
    private let usesFile: PrivateFile
    private static let mostUsesBytes = 8 << 20
    private let state = Mutex(State())
    /// Held during a sweep: another one would count what this one removes.
    private let sweeping = AsyncLock()
    /// Notified when a download of the session has ended.
    let ends = AsyncEvent()

    /// Throws `disk` if a directory cannot be created, or is not this user's own.
    init(
        _ manager: DownloadManager, in directory: String, size: ByteCount, age: Duration, logger: Logger
    ) throws(DownloadError) {
        self.manager = manager
        self.directory = directory
        self.size = size
        self.age = age
        self.logger = logger
        try PrivateFile.makeDirectory(directory)
        for kind in GatewayKind.allCases { try PrivateFile.makeDirectory("\(directory)/\(kind)") }
        usesFile = PrivateFile(directory + "/uses.json", most: Self.mostUsesBytes)
        let text = usesFile.read()
        let found = text.flatMap { try? APICoding.decode([String: Double].self, from: Data($0.utf8)) } ?? [:]
        state.withLock { $0.uses = found }
    }

    /// A download that stays in the cache while this object lives, with the place of its reader.
    final class Holding: Sendable {
        let download: Download
        private let cache: GatewayCache
        private let seat: ContentSeats.Seat

        fileprivate init(_ download: Download, _ cache: GatewayCache, _ seat: ContentSeats.Seat) {
            self.download = download
            self.cache = cache
            self.seat = seat
        }

        deinit { cache.release(download.id) }
    }

    private func hold(_ id: DownloadID) {
        state.withLock { state in
            state.held[id, default: 0] += 1
            state.uses[id.rawValue] = Date().timeIntervalSince1970
        }
    }

    private func release(_ id: DownloadID) {
        state.withLock { state in
            let count = (state.held[id] ?? 1) - 1
            state.held[id] = count > 0 ? count : nil
        }
    }

    /// Whether the bytes may be sent to any client without a request to the server: they were fetched from this URL
    /// without secrets, or are being fetched so.
    func isOpen(_ file: GatewayFile) async throws(DownloadError) -> Bool {
        guard let download = try await manager.download(id: file.id) else { return false }
        let request = download.request
        guard request.userInfo == GatewayFile.isOpen, request.sources == [file.url] else { return false }
        switch download.status.state {
        case .completed, .downloading, .verifying: return true
        default: return false
        }
    }

    /// Returns the download of a file, which runs or is complete; it is added if it is not listed. One that has stopped
    /// goes on, with this client's secrets.
    func download(_ file: GatewayFile, _ seat: ContentSeats.Seat) async throws(DownloadError) -> Holding {
        hold(file.id)
        do throws(DownloadError) {
            let request = file.request(in: directory)
            let added = try await manager.add([request], for: Self.session)
            guard let (download, isNew) = added.first else { throw DownloadError(.internal, "nothing was added") }
            if !isNew { try await go(on: download, request) }
            return Holding(download, self, seat)
        } catch {
            release(file.id)
            throw error
        }
    }

    private func go(on download: Download, _ request: DownloadRequest) async throws(DownloadError) {
        switch download.status.state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.network), .waiting(.notBefore): break
        case .completed:
            let path = download.status.path ?? ""
            let found = await onFileThread { () -> ByteCount? in
                var status = stat()
                return lstat(path, &status) == 0 ? ByteCount(status.st_size) : nil
            }
            guard found == download.status.progress.completedBytes else { return try await download.restart() }
        case .cancelled: try await download.restart()
        case .failed, .paused, .waiting:
            try await download.change { listed in
                listed.sources = request.sources
                listed.headers = request.headers
                listed.userInfo = request.userInfo
            }
            try await download.resume()
        }
    }

    // MARK: Removing

    /// Removes what has not been used for too long, and then the least recently used until the rest fits; until
    /// cancelled.
    func run() async {
        while !Task.isCancelled {
            let seen = ends.count
            do throws(DownloadError) { try await sweep() } catch {
                logger.warning("the gateway's cache cannot be swept", metadata: ["error": "\(error.message)"])
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.ends.wait(after: seen) }
                group.addTask { try? await Task.sleep(for: .seconds(600)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    func sweep() async throws(DownloadError) {
        await sweeping.acquire()
        defer { sweeping.release() }
        let now = Date().timeIntervalSince1970
        let strays = await onFileThread { [directory] in Self.names(in: directory) }
        var rows: [CatalogueRow] = []
        try await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows += $0 }
        let (held, uses) = state.withLock { ($0.held, $0.uses) }
        func use(of row: CatalogueRow) -> Double {
            uses[row.id.rawValue] ?? (row.endedAt ?? row.createdAt).timeIntervalSince1970
        }
        var left = rows.map(\.completedBytes).sum
        var kept: Set<String> = []
        for row in rows.sorted(by: { use(of: $0) < use(of: $1) }) {
            let isOld = now - use(of: row) > age / .seconds(1)
            let isIdle = held[row.id] == nil && !isRunning(row)
            guard isIdle, isOld || left > size, await remove(row.id) else {
                kept.insert(row.id.rawValue)
                continue
            }
            left = max(0, left - row.completedBytes)
        }
        let written = state.withLock { state in
            state.uses = state.uses.filter { id, use in
                use >= now || kept.contains(id) || state.held[DownloadID(rawValue: id)] != nil
            }
            return state.uses
        }
        // A download that was added since the list was read is in it now, or has been asked for.
        let unlisted = strays.filter { !kept.contains($0.id) }
        let listed = Set(try await manager.rows(Set(unlisted.map(\.id)).map { DownloadID(rawValue: $0) }).map(\.id))
        await onFileThread { [self, usesFile, logger] in
            for stray in unlisted where !listed.contains(DownloadID(rawValue: stray.id)) {
                guard state.withLock({ $0.uses[stray.id] == nil }) else { continue }
                unlink("\(directory)/\(stray.path)")
            }
            guard let data = try? APICoding.encode(written) else { return }
            do throws(DownloadError) {
                try usesFile.write(String(decoding: data, as: UTF8.self))
            } catch {
                logger.warning("the gateway's uses cannot be written", metadata: ["error": "\(error.message)"])
            }
        }
    }

    private func isRunning(_ row: CatalogueRow) -> Bool {
        switch manager.status(of: row).state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.network), .waiting(.retry), .waiting(.notBefore): true
        default: false
        }
    }

    /// Removes a download and its files, unless a client has taken hold of it meanwhile.
    private func remove(_ id: DownloadID) async -> Bool {
        guard state.withLock({ $0.held[id] == nil }), let download = try? await manager.download(id: id) else {
            return false
        }
        do throws(DownloadError) {
            try await download.remove(deletingFile: true)
            return true
        } catch {
            logger.warning("a file of the gateway stays", metadata: ["id": "\(id)", "error": "\(error.message)"])
            return false
        }
    }

    /// The files in the cache's directories, with the identifiers of the downloads that they can belong to.
    private static func names(in directory: String) -> [(path: String, id: String)] {
        GatewayKind.allCases.flatMap { kind in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(kind)")) ?? []
            return names.compactMap { name -> (path: String, id: String)? in
                let key = name.split(at: ".").first ?? ""
                guard key.utf8.count == 32 else { return nil }
                return ("\(kind)/\(name)", "gateway-\(key)")
            }
        }
    }
}
