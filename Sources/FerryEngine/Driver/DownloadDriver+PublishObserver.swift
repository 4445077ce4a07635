import FerryCore

extension SmallFilePublisher.Draft {
    fileprivate func status() throws(PublishError) -> FileStatus {
        do throws(FileError) { return try file.status() } catch { throw .file(error) }
    }
}

/// Publishing with a ``PublishObserving`` observer.
extension DownloadDriver {
    /// Publishes a small file after announcing each candidate name to the observer.
    func publish(
        _ bytes: [UInt8], _ order: PublishOrder, _ publisher: SmallFilePublisher, _ witness: any PublishObserving
    ) async throws(DownloadError) -> Result<SmallFilePublisher.Result, PublishError> {
        typealias Start = (draft: SmallFilePublisher.Draft, status: FileStatus, step: SmallFilePublisher.Step)
        let start: Result<Start?, PublishError> = await environment.pool.run {
            do throws(PublishError) {
                guard let draft = try publisher.draft(bytes, order) else { return .success(nil) }
                do throws(PublishError) {
                    return .success((draft, try draft.status(), try publisher.firstStep(of: draft)))
                } catch {
                    draft.file.close()
                    throw error
                }
            } catch { return .failure(error) }
        }
        switch start {
        case .failure(let error): return .failure(error)
        case .success(nil): return .success(.needsPartFile("the file system has no unnamed files"))
        case .success(let (draft, status, first)?):
            defer { draft.file.close() }
            var step = first
            while case .name(let candidate) = step {
                try await witness.willPublish(PublishedFile(candidate.paths.final, status))
                let next: Result<SmallFilePublisher.Step, PublishError> = await environment.pool.run {
                    do throws(PublishError) { return .success(try publisher.link(draft, as: candidate)) } catch {
                        return .failure(error)
                    }
                }
                switch next {
                case .success(let next): step = next
                case .failure(let error): return .failure(error)
                }
            }
            guard case .done(let result) = step else { return .success(.noFreeName(order.directory)) }
            return .success(result)
        }
    }

    /// Reports to the observer that the file has its final name.
    func tellPublished(_ finished: FinishedDownload) async throws(DownloadError) {
        guard let witness = context.witness else { return }
        let fileSystem = fileSystem
        let look: Result<PublishedFile?, DownloadError> = await environment.pool.run {
            do throws(DownloadError) {
                return .success(try PublishedFile.read(finished.path, fileSystem: fileSystem))
            } catch { return .failure(error) }
        }
        guard let file = try look.get() else {
            throw DownloadError(.disk, ErrorPhrase(.removedAtOnce, finished.path))
        }
        try await witness.didPublish(finished, file)
    }
}
