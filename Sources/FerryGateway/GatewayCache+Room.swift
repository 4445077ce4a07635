import Ferry
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

/// Space for files. Evicts files to make room for a new one, files with a wrong digest, files that have not been used for too long,
/// and the least recently used files while the cache exceeds its size limit.
extension GatewayCache {
    /// Removes the least recently used files until `bytes` fit on the disk. Throws `diskFull` if that is not enough.
    func makeRoom(for bytes: ByteCount) async throws(DownloadError) {
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

    /// Returns how many bytes of space are missing for a file of this size; negative if it fits.
    private func missing(for bytes: ByteCount) async -> ByteCount? {
        await onFileThread { [space, directory] in
            space(directory).map { min(bytes, .max / 2) - max(0, $0.free - $0.reserve) }
        }
    }

    /// Frees space for a waiting download by removing the least recently used files. If there are none, pauses the download, so
    /// that its readers end. Returns when the download has ended or was paused.
    func giveRoom(to download: Download, _ shortage: Shortage) async {
        for await status in download.updates {
            if status.state.isFinal { return }
            guard case .waiting(.diskSpace) = status.state else { continue }
            await sweeping.acquire()
            let rest = max(1, (status.progress.totalBytes ?? 0) - status.progress.completedBytes)
            let wanted = max(1, await missing(for: rest) ?? rest)
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

    /// Removes the least recently used files with at least this many bytes in total, or none if all files together have fewer.
    /// Returns the number of removed bytes. Requires ``sweeping``.
    private func evict(atLeast wanted: ByteCount) async throws(DownloadError) -> ByteCount {
        var rows: [CatalogueRow] = []
        try await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows += $0 }
        let idle = rows.filter { $0.completedBytes > 0 && !isRunning($0) && !self.uses.isHeld($0.id) }
        guard idle.map(\.completedBytes).sum >= wanted else { return 0 }
        let uses = uses.all
        var freed: ByteCount = 0
        for row in idle.sorted(by: { GatewayUses.use(of: $0, uses) < GatewayUses.use(of: $1, uses) })
        where freed < wanted {
            guard await remove(row, .space) else { continue }
            freed = freed.adding(row.completedBytes)
        }
        return freed
    }

    // MARK: Removing

    /// Until cancelled, removes files with a wrong digest and files that have not been used for too long, and then the least
    /// recently used files until the rest fits.
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
        rows = await removingMismatches(among: rows)
        let uses = uses.all
        var left = rows.map(\.completedBytes).sum
        // The cache shrinks if other files need the disk.
        let room = await missing(for: 0).map { left - $0 } ?? .max
        let size = min(size, max(0, room))
        var kept: Set<String> = []
        for row in rows.sorted(by: { GatewayUses.use(of: $0, uses) < GatewayUses.use(of: $1, uses) }) {
            let isOld = now - GatewayUses.use(of: row, uses) > age / .seconds(1)
            let isIdle = !self.uses.isHeld(row.id) && !isRunning(row)
            guard isIdle, isOld || left > size, await remove(row, isOld ? .age : .size) else {
                kept.insert(row.id.rawValue)
                continue
            }
            left = max(0, left - row.completedBytes)
        }
        counts.holds(files: kept.count, bytes: left)
        let written = self.uses.forget(since: now, keeping: kept)
        index.keep { kept.contains($0.rawValue) || written[$0.rawValue] != nil }
        if let pages = pages.withLock({ $0 }) {
            let (date, most) = (Date(timeIntervalSince1970: now - age / .seconds(1)), min(256 << 20, size / 10))
            await onFileThread { [digests] in
                pages.sweep(before: date, most: most)
                // Independent of the free space, because without the digests wrong bytes would be kept.
                digests.sweep(most: Self.mostDigestBytes)
            }
        }
        // A download that was added after the rows were read is now in the list, or its use is recorded. Its file is kept.
        let unlisted = strays.filter { !kept.contains($0.id) }
        let listed = Set(try await manager.rows(Set(unlisted.map(\.id)).map { DownloadID(rawValue: $0) }).map(\.id))
        await onFileThread { [self] in
            for stray in unlisted where !listed.contains(DownloadID(rawValue: stray.id)) {
                guard !self.uses.isKnown(stray.id) else { continue }
                unlink("\(directory)/\(stray.path)")
            }
            do throws(DownloadError) { try self.uses.write(written) } catch {
                logger.warning("the gateway's uses cannot be written", metadata: ["error": "\(error.message)"])
            }
        }
    }

    /// Removes the downloads whose bytes did not have the digest of their file. Returns the other rows.
    private func removingMismatches(among rows: [CatalogueRow]) async -> [CatalogueRow] {
        var left: [CatalogueRow] = []
        for row in rows {
            if case .failed(let error) = manager.status(of: row).state, error.code == .checksum {
                note(error, of: row.id, at: row.endedAt)
                if await remove(row, .damaged) { continue }
            }
            left.append(row)
        }
        return left
    }

    /// The maximum number of bytes of all tables of digests, enough for a million files.
    private static let mostDigestBytes: ByteCount = 64 << 20

    func isRunning(_ row: CatalogueRow) -> Bool {
        switch manager.status(of: row).state {
        case .downloading, .verifying, .waiting(.slot), .waiting(.server), .waiting(.network), .waiting(.retry),
            .waiting(.notBefore):
            true
        default: false
        }
    }

    /// Removes a download and its files, unless a client holds it by now.
    func remove(_ row: CatalogueRow, _ reason: GatewayCounts.Eviction) async -> Bool {
        await uses.removing(row.id) { await removeFiles(of: row, reason) }
    }

    /// Removes a download and its files. A file that was changed is not deleted: it then belongs to no download, so the next sweep
    /// removes it, unless a new download replaces it.
    func unlist(_ download: Download) async throws(DownloadError) {
        do throws(DownloadError) { try await download.remove(deletingFile: true) } catch {
            try await download.remove(deletingFile: false)
        }
    }

    private func removeFiles(of row: CatalogueRow, _ reason: GatewayCounts.Eviction) async -> Bool {
        guard let download = try? await manager.download(id: row.id) else { return false }
        do throws(DownloadError) { try await unlist(download) } catch {
            logger.warning("a file of the gateway stays", metadata: ["id": "\(row.id)", "error": "\(error.message)"])
            return false
        }
        counts.evicted(reason)
        logger.info(
            "the gateway has removed a file",
            metadata: [
                "id": "\(row.id)", "name": "\(GatewayText.visible(row.fileName))",
                "bytes": "\(row.completedBytes)", "reason": "\(reason.rawValue)",
            ])
        return true
    }
}
