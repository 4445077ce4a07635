import Ferry
import FerryAPI
import FerryCore
import FerryServer
import HTTPTypes
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The files that clients of the gateway have requested. They are downloads of a separate session. Files that have
/// not been used for too long are removed, and the least recently used ones while the cache exceeds its maximum size.
///
/// The list of downloads is the index of the cache. A download that is held by a client or is running is never removed. A
/// running download is shared by requests for its URL and digest; a complete, verified download by all requests for the digest.
final class GatewayCache: Sendable {
    /// The session of the downloads.
    static let session = FerryAPI.gatewaySession

    let manager: DownloadManager
    let index = GatewayIndex()
    let uses: GatewayUses
    let directory: String
    let size: ByteCount
    let age: Duration
    /// The time during which a file with a wrong digest is not fetched again.
    let wrongTime: Duration
    /// Returns the free bytes of a directory, and how many of them must remain.
    let space: GatewaySpace
    /// The pages that are kept beside the files.
    let pages = Mutex<GatewayPages?>(nil)
    let digests: ArchiveDigests
    let counts: GatewayCounts
    let logger: Logger
    /// Held during a sweep, because a concurrent sweep would count the files that this one removes.
    let sweeping = AsyncLock()
    /// A download whose bytes did not have the digest of its file.
    private struct Mismatch: Sendable {
        let error: DownloadError
        let date: Date
    }
    /// The last mismatch of each file. The downloads are removed, with their bytes.
    private let mismatches = Mutex(RecentValues<DownloadID, Mismatch>(capacity: 1000))
    /// Notified when a download of the session has ended.
    let ends = AsyncEvent()

    /// Throws `disk` if a directory cannot be created, or belongs to another user.
    init(
        _ manager: DownloadManager, in directory: String, size: ByteCount, age: Duration, wrongTime: Duration,
        space: @escaping GatewaySpace, counts: GatewayCounts, logger: Logger
    ) throws(DownloadError) {
        self.space = space
        self.counts = counts
        self.manager = manager
        self.directory = directory
        self.size = size
        self.age = age
        self.wrongTime = wrongTime
        self.logger = logger
        try PrivateFile.makeDirectory(directory)
        for kind in GatewayKind.allCases { try PrivateFile.makeDirectory("\(directory)/\(kind)") }
        PrivateFile.removeUnfinished(in: directory)
        uses = GatewayUses(in: directory)
        digests = try ArchiveDigests(in: directory + "/digests", logger: logger)
    }

    /// Keeps a download in the cache and frees space for it on the disk until the object is deinitialized. Also holds the reader's
    /// permit (``ContentSeats``).
    final class Holding: Sendable {
        /// The source of the bytes.
        enum Origin: Sendable, Hashable { case complete, running, new }

        let download: Download
        let origin: Origin
        private let cache: GatewayCache
        private let seat: ContentSeats.Seat
        private let shortage = Shortage()
        private let task: Task<Void, Never>?

        /// The error if the download was paused because of missing space.
        var noRoom: DownloadError? { shortage.error.withLock { $0 } }

        fileprivate init(_ download: Download, _ origin: Origin, _ cache: GatewayCache, _ seat: ContentSeats.Seat) {
            self.download = download
            self.origin = origin
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
            cache.uses.release(download.id)
            // A file with a wrong digest is removed once no client holds it.
            if case .failed = download.status.state { cache.ends.notify() }
        }
    }

    /// Returns the listed download whose bytes can serve a request: a complete and verified one, otherwise the one with the
    /// same URL and digest in any state.
    func match(_ file: GatewayFile) async throws(DownloadError) -> Download? {
        let own = try await manager.download(id: file.id)
        if let own, file.mayBe(own.snapshot) { return own }
        guard let checksum = file.checksum else { return own }
        for id in try await index.downloads(of: checksum, in: manager) where id != file.id {
            if let other = try await manager.download(id: id), file.mayBe(other.snapshot) { return other }
        }
        return own
    }

    /// Returns the most recently used complete download of a URL.
    func latest(of url: DownloadURL) async throws(DownloadError) -> Download? {
        let ids = try await index.downloads(of: url, in: manager)
        let uses = uses.all
        for id in ids.sorted(by: { uses[$0.rawValue] ?? 0 > uses[$1.rawValue] ?? 0 }) {
            if let download = try await manager.download(id: id), case .completed = download.status.state {
                return download
            }
        }
        return nil
    }

    /// Whether the bytes may be sent to any client without a request to the server, because they were fetched, or are being
    /// fetched, from this URL without secrets.
    func isOpen(_ match: Download?, _ file: GatewayFile) -> Bool {
        guard let match, match.request.userInfo == GatewayFile.isOpen, match.request.sources == [file.url] else {
            return false
        }
        switch match.status.state {
        case .completed, .downloading, .verifying: return true
        default: return false
        }
    }

    /// Returns the running or complete download of a file, and adds it if it is not listed. A stopped download is resumed with
    /// this client's secrets.
    ///
    /// - Parameter match: Another download with the bytes of the file.
    ///
    /// Throws `diskFull` if there is no room for the file.
    func download(
        _ file: GatewayFile, _ match: Download?, _ seat: ContentSeats.Seat
    ) async throws(DownloadError) -> Holding {
        if let match, match.id != file.id {
            await uses.hold(match.id)
            if try await manager.download(id: match.id) === match, await isReadable(match) {
                return Holding(match, .complete, self, seat)
            }
            uses.release(match.id)
        }
        await uses.hold(file.id)
        do throws(DownloadError) {
            var request = file.request(in: directory)
            // A body of unknown size may be endless, and its download continues without the client. It must not fill the disk.
            if file.size == nil { request.maxBytes = size }
            var listed = try await manager.download(id: file.id)
            if let changed = listed, !file.isFetched(by: changed.request) {
                try await discard(changed)
                listed = nil
            }
            if listed == nil {
                try checkMayFetchAgain(file)
                try await makeRoom(for: file.size ?? 0)
            }
            let (download, isNew) = try await add(request)
            index.add(request, as: file.id)
            let origin = isNew ? .new : try await go(on: download, request, file)
            return Holding(download, origin, self, seat)
        } catch {
            uses.release(file.id)
            if error.code == .checksum { ends.notify() }
            throw error
        }
    }

    /// Adds a download. One that is listed, perhaps by another client just now, does not take over this client's secrets here: its
    /// bytes may be public.
    private func add(
        _ request: DownloadRequest
    ) async throws(DownloadError) -> (download: Download, isNew: Bool) {
        var request = request
        request.onDuplicate = .fail
        do throws(DownloadError) { return try await list(request) } catch {
            guard error.code == .duplicate else { throw error }
            (request.onDuplicate, request.headers) = (.existing, HTTPFields())
            return try await list(request)
        }
    }

    private func list(
        _ request: DownloadRequest
    ) async throws(DownloadError) -> (download: Download, isNew: Bool) {
        guard let added = try await manager.add([request], for: Self.session).first else {
            throw DownloadError(.internal, "nothing was added")
        }
        return added
    }

    /// Removes a download that no longer fetches its file, because its request was changed: its bytes are not those of the file.
    /// Its readers end with an error.
    private func discard(_ download: Download) async throws(DownloadError) {
        logger.warning("the request of a download of the gateway was changed", metadata: ["id": "\(download.id)"])
        do throws(DownloadError) { try await unlist(download) } catch {
            // Another client has already removed it.
            guard error.code == .notFound else { throw error }
        }
    }

    private func go(
        on download: Download, _ request: DownloadRequest, _ file: GatewayFile
    ) async throws(DownloadError) -> Holding.Origin {
        while true {
            let state = download.status.state
            do throws(DownloadError) { return try await go(on: download, in: state, request, file) } catch {
                // Another client has changed the state of the download meanwhile, so the new state is handled.
                guard error.code == .wrongState, download.status.state != state else { throw error }
            }
        }
    }

    private func go(
        on download: Download, in state: DownloadState, _ request: DownloadRequest, _ file: GatewayFile
    ) async throws(DownloadError) -> Holding.Origin {
        switch state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.server), .waiting(.network), .waiting(.notBefore):
            return .running
        case .completed:
            let isKept = file.isFresh ? false : await isReadable(download)
            if isKept { return .complete }
            try await fetchAgain(download)
        case .cancelled: try await fetchAgain(download)
        case .failed(let error) where error.code == .checksum:
            let row = try await manager.rows([download.id]).first
            note(error, of: download.id, at: row?.endedAt)
            try checkMayFetchAgain(file)
            try await download.resume()
        case .failed, .paused, .waiting:
            try await download.change { listed in
                listed.headers = request.headers
                listed.userInfo = GatewayFile.access(listed.userInfo, continuedWith: request.userInfo)
            }
            try await download.resume()
        }
        return .new
    }

    /// Records that the bytes of a download did not have the digest of its file.
    func note(_ mismatch: DownloadError, of id: DownloadID, at date: Date?) {
        mismatches.withLock { $0[id] = Mismatch(error: mismatch, date: date ?? Date(timeIntervalSince1970: 0)) }
    }

    /// Throws the error of a file whose digest was wrong a moment ago. A client that immediately repeats its request receives the
    /// reason why its bytes ended early. apt does not use the reason, so for apt the file is fetched again.
    private func checkMayFetchAgain(_ file: GatewayFile) throws(DownloadError) {
        guard file.kind != .apt, let mismatch = mismatches.withLock({ $0[file.id] }) else { return }
        guard Date().timeIntervalSince(mismatch.date) > wrongTime / .seconds(1) else { throw mismatch.error }
    }

    /// Whether the digest of a file was wrong since the start, so that clients may have received wrong bytes.
    func wasWrong(_ id: DownloadID) -> Bool { mismatches.withLock { $0[id] } != nil }

    /// Whether the file of a complete download can be read. If its date or inode has changed, as after a copy, it is compared
    /// with its digest.
    func isReadable(_ download: Download) async -> Bool {
        do throws(DownloadError) {
            _ = try await download.content.description()
            return true
        } catch {
            guard (try? await manager.adoptChangedFile(of: download)) == true else { return false }
            logger.notice("a changed file of the gateway still matches its digest", metadata: ["id": "\(download.id)"])
            return true
        }
    }

    func fetchAgain(_ download: Download) async throws(DownloadError) {
        logger.notice("a file of the gateway is fetched again", metadata: ["id": "\(download.id)"])
        do throws(DownloadError) { try await download.restart() } catch {
            // Another client has already restarted the download.
            guard error.code == .wrongState else { throw error }
        }
    }

    /// Why a download was paused.
    final class Shortage: Sendable {
        let error = Mutex<DownloadError?>(nil)
    }
}
