import Ferry
import FerryAPI
import FerryCore
import FerryEngine
import Synchronization

/// User actions. Each action on one download acquires the lock of the download.
extension RemoteSession {
    func perform(_ action: ListAction, on selection: ListSelection) async throws(DownloadError) {
        switch selection {
        case .one(let live): try await perform(action, on: live)
        case .all: try await performOnAll(action)
        }
    }

    private func perform(_ action: ListAction, on live: LiveDownload) async throws(DownloadError) {
        switch action {
        case .pause: try await act(.pause, on: live)
        case .resume: try await act(.resume, on: live, repeatsAs: .resume)
        case .restart: try await act(.restart, on: live, repeatsAs: .restart)
        case .cancel: try await act(.cancel, on: live)
        case .remove(let deletes, _): try await remove(live, deletingFile: deletes)
        case .change(let change): try await amend(live) { _ in change }
        }
    }

    /// `repeatsAs` is an action that is no longer permitted once it has succeeded. If the response to the first call was lost,
    /// the daemon refuses the repeated call, because the first one has been carried out. The refusal is not an error if the
    /// state before the first call permitted the action.
    private func act(
        _ route: Route, on live: LiveDownload, repeatsAs action: DownloadAction? = nil
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        let mayRepeat = action.map(live.current.actions.contains) ?? false
        var wasRepeated = false
        do throws(DownloadError) {
            let answer = try await ask(
                DaemonCall(route, id: live.id.rawValue), as: ListedDownload.self, wasRepeated: &wasRepeated)
            show(answer, on: live)
        } catch {
            guard wasRepeated, mayRepeat, error.code == .wrongState else { throw error }
        }
    }

    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        let path = live.status.path
        var wasRepeated = false
        let answer: ResumeDataBody
        do throws(DownloadError) {
            let call = DaemonCall(.keepResumeData, id: live.id.rawValue)
            answer = try await ask(call, as: ResumeDataBody.self, wasRepeated: &wasRepeated)
        } catch {
            // An earlier attempt of this call has removed the download from the list; the part file still has its data.
            guard wasRepeated, error.code == .notFound, let path else { throw error }
            answer = try await ask(
                .keepResumeData, id: live.id.rawValue, TakenBody(path: path), as: ResumeDataBody.self)
        }
        let data = try ResumeData(answer.resumeData)
        // The observers finish with the removal, which the answer may report before the stream has the cancellation.
        live.set(state: .cancelled)
        removed([live.id])
        return data
    }

    private func remove(_ live: LiveDownload, deletingFile: Bool) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        var wasRepeated = false
        do throws(DownloadError) {
            let query = deletingFile ? [(name: "deleteFile", value: "true")] : []
            _ = try await ask(
                DaemonCall(.remove, id: live.id.rawValue, query: query), as: Nothing.self, wasRepeated: &wasRepeated)
        } catch {
            guard wasRepeated, error.code == .notFound else { throw error }
        }
        if !live.current.isFinal { live.set(state: .cancelled) }
        removed([live.id])
    }

    func change(
        _ live: LiveDownload, _ change: @Sendable (inout DownloadRequest) throws(DownloadError) -> Void
    ) async throws(DownloadError) {
        try await amend(live) { old throws(DownloadError) in
            var new = old
            try change(&new)
            try RequestChange.check(from: old, to: new)
            return RequestChange(from: old, to: new)
        }
    }

    private func amend(
        _ live: LiveDownload, _ change: @Sendable (DownloadRequest) throws(DownloadError) -> RequestChange
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        let body = try change(live.request)
        let said = try await ask(.change, id: live.id.rawValue, body, as: ListedDownload.self)
        show(said, on: live)
    }

    func move(_ live: LiveDownload, to place: ListPlacement) async throws(DownloadError) {
        try checkMayAct(on: live)
        _ = try await ask(.move, id: live.id.rawValue, place, as: Nothing.self)
    }

    func contentReader(
        of download: Download, _ range: Range<ByteCount>?, _ description: DownloadContent.Description?
    ) -> any ContentReader {
        RemoteContentReading(download, in: self, range: range, of: description)
    }

    func relocate(_ live: LiveDownload, to directory: String) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        // A repeated call finds the files already at their new path.
        let answer = try await ask(
            .relocate, id: live.id.rawValue, RelocateBody(directory: directory), as: ListedDownload.self)
        show(answer, on: live)
    }

    private func checkMayAct(on live: LiveDownload) throws(DownloadError) {
        if isShutDown { throw Self.wasShutDown }
        if live.isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name)) }
    }

    // MARK: Many at once

    private func performOnAll(_ action: ListAction) async throws(DownloadError) {
        let selection = SelectionBody(words: ["all"])
        switch action {
        case .pause: _ = try await ask(.pauseMany, selection, as: Nothing.self)
        case .resume: _ = try await ask(.resumeMany, selection, as: Nothing.self)
        case .restart: _ = try await ask(.restartMany, selection, as: Nothing.self)
        case .cancel: _ = try await ask(.cancelMany, selection, as: Nothing.self)
        case .remove(let deletes, _):
            let removal = RemovalBody(words: selection.words, deleteFiles: deletes)
            _ = try await ask(.removeMany, removal, as: Nothing.self)
        case .change(let change):
            _ = try await ask(.changeMany, ChangeBody(words: selection.words, change: change), as: Nothing.self)
        }
        try await catchUp()
    }

    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError) {
        _ = try await ask(.clear, ClearBody(filter, deleteFiles: deletingFiles), as: Nothing.self)
        try await catchUp()
    }

    /// Updates all objects after a bulk change.
    func catchUp() async throws(DownloadError) {
        do throws(DaemonFailure) { try await lookAtHeld() } catch { throw self.error(error) }
    }
}

/// A response body whose content is ignored.
struct Nothing: Decodable, Sendable {
    init(from decoder: any Decoder) throws {}
}
