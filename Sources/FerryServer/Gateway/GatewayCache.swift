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
/// removed. A running download is shared by its URL and digest; a complete one that was verified, by the digest alone.
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
    private let index = GatewayIndex()
    let directory: String
    private let size: ByteCount
    private let age: Duration
    /// Returns the free bytes of a directory, and how many of them must remain.
    private let space: GatewaySpace
    /// The pages that are kept beside the files.
    let pages = Mutex<GatewayPages?>(nil)
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
        _ manager: DownloadManager, in directory: String, size: ByteCount, age: Duration, space: @escaping GatewaySpace,
        logger: Logger
    ) throws(DownloadError) {
        self.space = space
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

    /// A download that stays in the cache, and gets room on the disk, while this object lives; with the place of its reader.
    final class Holding: Sendable {
        let download: Download
        private let cache: GatewayCache
        private let seat: ContentSeats.Seat
        private let shortage = Shortage()
        private let task: Task<Void, Never>?

        /// The error if the download was paused for want of space.
        var noRoom: DownloadError? { shortage.error.withLock { $0 } }

        fileprivate init(_ download: Download, _ cache: GatewayCache, _ seat: ContentSeats.Seat) {
            self.download = download
            self.cache = cache
            self.seat = seat
            if case .completed = download.status.state {
                task = nil
            } else {
                // owner: this object, which cancels it.
                task = Task { [shortage] in await cache.giveRoom(to: download, shortage) }
            }
        }

        deinit {
            task?.cancel()
            cache.release(download.id)
        }
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

    /// The listed download whose bytes answer a request: one that is complete and verified, else that of the same URL and
    /// digest in any state.
    func match(_ file: GatewayFile) async throws(DownloadError) -> Download? {
        let own = try await manager.download(id: file.id)
        if let own, file.mayBe(own.snapshot) { return own }
        guard let checksum = file.checksum else { return own }
        for id in try await index.downloads(of: checksum, in: manager) where id != file.id {
            if let other = try await manager.download(id: id), file.mayBe(other.snapshot) { return other }
        }
        return own
    }

    /// The complete download of a URL that was used last.
    func latest(of url: DownloadURL) async throws(DownloadError) -> Download? {
        let ids = try await index.downloads(of: url, in: manager)
        let uses = state.withLock { $0.uses }
        for id in ids.sorted(by: { uses[$0.rawValue] ?? 0 > uses[$1.rawValue] ?? 0 }) {
            if let download = try await manager.download(id: id), case .completed = download.status.state {
                return download
            }
        }
        return nil
    }

    /// Whether the bytes may be sent to any client without a request to the server: they were fetched from this URL
    /// without secrets, or are being fetched so.
    func isOpen(_ match: Download?, _ file: GatewayFile) -> Bool {
        guard let match, match.request.userInfo == GatewayFile.isOpen, match.request.sources == [file.url] else {
            return false
        }
        switch match.status.state {
        case .completed, .downloading, .verifying: return true
        default: return false
        }
    }

    /// Returns the download of a file, which runs or is complete; it is added if it is not listed. One that has stopped
    /// goes on, with this client's secrets.
    ///
    /// - Parameter match: Another download whose bytes are those of the file.
    ///
    /// Throws `diskFull` if there is no room for the file.
    func download(
        _ file: GatewayFile, _ match: Download?, _ seat: ContentSeats.Seat
    ) async throws(DownloadError) -> Holding {
        if let match, match.id != file.id {
            hold(match.id)
            if try await manager.download(id: match.id) === match, await isReadable(match) {
                return Holding(match, self, seat)
            }
            release(match.id)
        }
        hold(file.id)
        do throws(DownloadError) {
            let request = file.request(in: directory)
            if try await manager.download(id: file.id) == nil { try await makeRoom(for: file.size ?? 0) }
            let added = try await manager.add([request], for: Self.session)
            guard let (download, isNew) = added.first else { throw DownloadError(.internal, "nothing was added") }
            index.add(request, as: file.id)
            if !isNew { try await go(on: download, request, isFresh: file.isFresh) }
            return Holding(download, self, seat)
        } catch {
            release(file.id)
            throw error
        }
    }

    private func go(
        on download: Download, _ request: DownloadRequest, isFresh: Bool
    ) async throws(DownloadError) {
        switch download.status.state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.network), .waiting(.notBefore): break
        case .completed:
            let isKept = isFresh ? false : await isReadable(download)
            if !isKept { try await fetchAgain(download) }
        case .cancelled: try await fetchAgain(download)
        case .failed(let error) where error.code == .checksum:
            // The client that asks again at once learns why its bytes ended early.
            let ended = try await manager.rows([download.id]).first?.endedAt ?? Date(timeIntervalSince1970: 0)
            guard Date().timeIntervalSince(ended) > Self.wrongTime else { throw error }
            try await download.resume()
        case .failed, .paused, .waiting:
            try await download.change { listed in
                listed.sources = request.sources
                listed.headers = request.headers
                listed.userInfo = request.userInfo
            }
            try await download.resume()
        }
    }

    /// The seconds for which a file with a wrong digest is not fetched again.
    private static let wrongTime: Double = 30

    /// Whether the file of a complete download can be read. One whose date or inode has changed, as after a copy, is
    /// compared with its digest.
    private func isReadable(_ download: Download) async -> Bool {
        do throws(DownloadError) {
            _ = try await download.content.description()
            return true
        } catch {
            guard (try? await manager.adoptChangedFile(of: download)) == true else { return false }
            logger.notice("a changed file of the gateway has its digest", metadata: ["id": "\(download.id)"])
            return true
        }
    }

    private func fetchAgain(_ download: Download) async throws(DownloadError) {
        logger.notice("a file of the gateway is fetched again", metadata: ["id": "\(download.id)"])
        do throws(DownloadError) { try await download.restart() } catch {
            // Another client has come first.
            guard error.code == .wrongState else { throw error }
        }
    }

    // MARK: Room

    /// Removes the least recently used files until `bytes` fit on the disk. Throws `diskFull` if they do not fit then.
    private func makeRoom(for bytes: ByteCount) async throws(DownloadError) {
        guard let missing = await self.missing(for: bytes), missing > 0 else { return }
        await sweeping.acquire()
        defer { sweeping.release() }
        _ = try await evict(atLeast: missing)
        guard let left = await self.missing(for: bytes), left > 0 else { return }
        logger.warning(
            "the gateway has no room for a file", metadata: ["bytes": "\(bytes)", "missing": "\(left)"])
        throw DownloadError(
            .diskFull, ErrorPhrase(.noSpace, directory, ByteText.size(max(0, bytes - left)), ByteText.size(left)),
            recovery: .needsUser)
    }

    /// The bytes that are missing for a file of this size; negative if it fits.
    private func missing(for bytes: ByteCount) async -> ByteCount? {
        await onFileThread { [space, directory] in
            space(directory).map { min(bytes, .max / 2) - max(0, $0.free - $0.reserve) }
        }
    }

    /// Why a download was paused.
    fileprivate final class Shortage: Sendable {
        let error = Mutex<DownloadError?>(nil)
    }

    /// Gives a download that waits for space that of the least recently used files; where there are none it is paused, so
    /// that its readers end. Returns when it has ended or was paused.
    fileprivate func giveRoom(to download: Download, _ shortage: Shortage) async {
        for await status in download.updates {
            if status.state.isFinal { return }
            guard case .waiting(.diskSpace) = status.state else { continue }
            await sweeping.acquire()
            let wanted = max(1, (status.progress.totalBytes ?? 0) - status.progress.completedBytes)
            let freed = (try? await evict(atLeast: wanted)) ?? 0
            sweeping.release()
            if freed > 0 {
                try? await download.resume()
                continue
            }
            logger.warning("the gateway has no room for a file", metadata: ["id": "\(download.id)"])
            shortage.error.withLock {
                $0 = status.waitError ?? DownloadError(.diskFull, ErrorPhrase(.noSpace, directory, "0 B", "1 B"))
            }
            try? await download.pause()
            return
        }
    }

    /// Removes the least recently used files with at least so many bytes together; returns the bytes of those that were
    /// removed. Requires ``sweeping``.
    private func evict(atLeast wanted: ByteCount) async throws(DownloadError) -> ByteCount {
        var rows: [CatalogueRow] = []
        try await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows += $0 }
        let uses = state.withLock { $0.uses }
        var freed: ByteCount = 0
        for row in rows.sorted(by: { Self.use(of: $0, uses) < Self.use(of: $1, uses) }) where freed < wanted {
            guard row.completedBytes > 0, !isRunning(row), await remove(row.id) else { continue }
            freed += row.completedBytes
        }
        if freed > 0 {
            logger.info("the gateway has made room", metadata: ["bytes": "\(freed)"])
        }
        return freed
    }

    private static func use(of row: CatalogueRow, _ uses: [String: Double]) -> Double {
        uses[row.id.rawValue] ?? (row.endedAt ?? row.createdAt).timeIntervalSince1970
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
        let strays = await onFileThread { [directory] in GatewayKind.cachedFiles(in: directory) }
        var rows: [CatalogueRow] = []
        try await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows += $0 }
        let (held, uses) = state.withLock { ($0.held, $0.uses) }
        var left = rows.map(\.completedBytes).sum
        // The cache gives way to other files on the disk.
        let room = await missing(for: 0).map { left - $0 } ?? .max
        let size = min(size, max(0, room))
        var kept: Set<String> = []
        for row in rows.sorted(by: { Self.use(of: $0, uses) < Self.use(of: $1, uses) }) {
            let isOld = now - Self.use(of: row, uses) > age / .seconds(1)
            let isIdle = held[row.id] == nil && !isRunning(row)
            guard isIdle, isOld || left > size, await remove(row.id) else {
                kept.insert(row.id.rawValue)
                continue
            }
            logger.debug(
                "the gateway has removed a file", metadata: ["id": "\(row.id)", "bytes": "\(row.completedBytes)"])
            left = max(0, left - row.completedBytes)
        }
        let written = state.withLock { state in
            state.uses = state.uses.filter { id, use in
                use >= now || kept.contains(id) || state.held[DownloadID(rawValue: id)] != nil
            }
            return state.uses
        }
        index.keep { kept.contains($0.rawValue) || written[$0.rawValue] != nil }
        if let pages = pages.withLock({ $0 }) {
            let (date, most) = (Date(timeIntervalSince1970: now - age / .seconds(1)), min(256 << 20, size / 10))
            await onFileThread { pages.sweep(before: date, most: most) }
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
}
