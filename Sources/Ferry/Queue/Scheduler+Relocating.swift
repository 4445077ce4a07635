import FerryCore
import FerryEngine

/// Moving a download's files to another directory.
extension Scheduler {
    func relocate(_ live: LiveDownload, to directory: String) async throws(DownloadError) {
        let store = try await opened()
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        var moved = live.request
        moved.destination = moved.destination.moved(to: directory)
        try moved.checkValues()
        if await isThere(live, directory) { return }
        if moved.isStream { throw DownloadError(.invalidRequest, ErrorPhrase(.noFileToMove, live.status.name)) }
        try await holding(live, .change) { _ throws(DownloadError) in
            try await relocate(live, to: directory, in: store)
        }
    }

    private func relocate(
        _ live: LiveDownload, to directory: String, in store: any DownloadStore
    ) async throws(DownloadError) {
        try checkMayAct(on: live)
        guard var row = try await store.row(live.id) else {
            throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name))
        }
        if row.request.root != nil {
            // An explicit move overrides the root of the request. The change is stored before the move, so that the next run
            // finds the files if the move is interrupted.
            (row.request.root, row.request.keptCopy) = (nil, nil)
            try await store.commit([.update(live.id, [.request(row.request, hasSecrets: row.hasSecrets)])])
        }
        let fields: [RowField]
        var earlier: String?
        var old: (path: String, file: PublishedFile)?
        if case .completed = live.current {
            let moved = try await moveFile(of: live, row, to: directory)
            fields = moved.map { [.file($0.finished, $0.file)] } ?? []
            old = moved?.old
        } else {
            // A file that the download published before its restart stays where it is until the new one is complete.
            let moved = try await movePair(of: live, row, to: directory)
            earlier = moved?.record.movedFrom
            fields =
                moved.map { [.name($0.record.name, path: $0.path), .part($0.part)] }
                // If no bytes have been received, the name is chosen again in the new directory.
                ?? [.name(live.status.name, path: nil), .part(nil)]
        }
        row.request.destination = row.request.destination.moved(to: directory)
        try await store.commit([.update(live.id, fields + [.request(row.request, hasSecrets: row.hasSecrets)])])
        // From here on, the files are at the new path, even if the old files cannot be removed.
        let request = row.request
        live.change { ($0.destination, $0.root, $0.keptCopy) = (request.destination, request.root, request.keptCopy) }
        for field in fields {
            switch field {
            case .name(let name, let path): live.moved(to: name, path: path)
            case .file(let file, _): live.set(state: live.current, finished: file)
            default: break
            }
        }
        await leave(earlier, old, of: live.id)
        happened(.note(Reason(.movedTo, directory)), to: live.id)
        live.publish()
        told(live.id)
    }

    /// Whether the download is already in that directory, possibly under another path.
    private func isThere(_ live: LiveDownload, _ directory: String) async -> Bool {
        guard let own = live.status.path.map(Paths.parent) else { return false }
        return await withFiles {
            own.hasSameBytes(as: directory) || PartFiles.isSameDirectory(own, directory, fileSystem: $0)
        }
    }

    /// Returns whether copying may continue; false after the manager has been shut down.
    private var mayCopy: @Sendable () -> Bool {
        { [weak self] in self?.queue.isOpen ?? false }
    }

    func reserve(of row: CatalogueRow) -> ByteCount? { row.request.minFreeBytes ?? configuration.minFreeBytes }

    private func movePair(
        of live: LiveDownload, _ row: CatalogueRow, to directory: String
    ) async throws(DownloadError) -> PartialDownloadMover.Moved? {
        guard let path = row.part ?? live.status.path else { return nil }
        let (id, reserve, continues) = (live.id, reserve(of: row), mayCopy)
        let moved = try await withFiles { files throws(DownloadError) in
            try PartialDownloadMover(fileSystem: files, reserve: reserve, continues: continues).move(
                path, of: id, to: directory)
        }
        if let moved { environment.note(moved, from: path) }
        return moved
    }

    /// A moved file; `old` is the original that a copy left behind.
    private struct MovedFile: Sendable {
        var finished: FinishedDownload
        var file: PublishedFile
        var old: (path: String, file: PublishedFile)?
    }

    private func moveFile(
        of live: LiveDownload, _ row: CatalogueRow, to directory: String
    ) async throws(DownloadError) -> MovedFile? {
        guard var finished = row.finished ?? live.finished, !finished.path.isEmpty else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noFileToMove, live.status.name))
        }
        let file = try await withFiles { [finished] files throws(DownloadError) in
            guard let file = try PublishedFile.read(finished.path, fileSystem: files) else {
                throw DownloadError(.notFound, ErrorPhrase(.missing, finished.path), recovery: .needsUser)
            }
            if let published = row.published, published.at(finished.path) != file {
                throw DownloadError(.conflict, ErrorPhrase(.otherThanFinished, finished.path), recovery: .needsUser)
            }
            return file
        }
        let (reserve, mayCopy) = (reserve(of: row), mayCopy)
        @Sendable func mover(_ files: any FileSystem) -> FileMover {
            FileMover(fileSystem: files, reserve: reserve, continues: mayCopy)
        }
        var copies = false
        while true {
            let draft = try await withFiles { [copies] files throws(DownloadError) in
                try mover(files).begin(file, to: directory, copying: copies)
            }
            let named: Result<PublishedFile?, DownloadError>
            do throws(DownloadError) { named = .success(try await name(draft, of: live.id, by: mover)) } catch {
                named = .failure(error)
            }
            await withFiles { _ in draft.drop() }
            if let named = try named.get() {
                finished.path = named.path
                return MovedFile(finished: finished, file: named, old: draft.isCopy ? (file.path, file) : nil)
            }
            copies = true
        }
    }

    /// Renames the draft of a moved file to its final name; returns `nil` if the file must be copied.
    private func name(
        _ draft: FileMover.Draft, of id: DownloadID, by mover: @escaping @Sendable (any FileSystem) -> FileMover
    ) async throws(DownloadError) -> PublishedFile? {
        let store = keptStore
        var candidate = try await withFiles { files throws(DownloadError) in try mover(files).candidate(draft) }
        while true {
            // The candidate is stored before the rename, so that the next launch can find the file after an interruption.
            try await store?.commit([.update(id, [.announced(candidate.file)])])
            do throws(DownloadError) {
                let naming = try await withFiles { [candidate] files throws(DownloadError) in
                    try mover(files).name(draft, candidate)
                }
                switch naming {
                case .taken(let next): candidate = next
                case .mustCopy: return nil
                case .named: return candidate.file
                }
            } catch {
                store?.submit([.update(id, [.announced(nil)])])
                throw error
            }
        }
    }

    /// Removes the files left at the old path.
    private func leave(
        _ earlier: String?, _ old: (path: String, file: PublishedFile)?, of id: DownloadID
    ) async {
        await withFiles { files in
            if let earlier { PartialDownloadMover(fileSystem: files).forget(earlier, of: id.rawValue) }
            if let old { try? PublishedFile.delete(old.path, ifUnchangedSince: old.file, fileSystem: files) }
        }
    }

    /// Deletes the file that the new one replaces at another path, if it is unchanged.
    func deleteLeftFile(of run: Run) async {
        guard let left = run.leftFile else { return }
        await withFiles { try? PublishedFile.delete(left.path, ifUnchangedSince: left, fileSystem: $0) }
    }

    // MARK: Interrupted moves

    /// Completes or undoes the move of a finished file that was interrupted by the end of the process. The file is either at
    /// the announced path or at the old one.
    func settleMove(of row: CatalogueRow, _ fileSystem: any FileSystem) -> [RowField] {
        guard let file = row.announced, var finished = row.finished else { return [.announced(nil)] }
        let isThere = (try? DownloadDriver.recoverAnnounced(file, syncs: true, fileSystem: fileSystem)) ?? false
        guard isThere else { return [.announced(nil)] }
        if let old = row.published?.at(finished.path), old.at(file.path) != file {
            try? PublishedFile.delete(old.path, ifUnchangedSince: old, fileSystem: fileSystem)
        }
        finished.path = file.path
        return [.file(finished, file)]
    }
}

extension DownloadRequest.Destination {
    /// The same destination in another directory.
    fileprivate func moved(to directory: String) -> DownloadRequest.Destination {
        func there(_ path: String) -> String { Paths.join(directory, Paths.name(of: path)) }
        switch self {
        case .directory(_, let name): return .directory(directory, name: name)
        case .file(let path): return .file(there(path))
        case .part(let path): return .part(there(path))
        case .stream: return self
        }
    }
}
