import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// User actions; each action on one download acquires its lock.
extension RemoteSession {
    func pause(_ live: LiveDownload) async -> Bool { await act(.pause, on: live) { $0 == .paused } }

    func resume(_ live: LiveDownload) async -> Bool { await act(.resume, on: live) { !$0.isFinal && $0 != .paused } }

    func restart(_ live: LiveDownload) async -> Bool { await act(.restart, on: live) { !$0.isFinal } }

    func cancel(_ live: LiveDownload) async -> Bool { await act(.cancel, on: live) { $0 == .cancelled } }

    /// Returns false if nothing changed or the daemon cannot be reached. `isDone` decides for a repeated call, whose
    /// first response was lost, whether that call made the change.
    private func act(_ route: Route, on live: LiveDownload, isDone: (DownloadState) -> Bool) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard !isShutDown, !live.isClosed else { return false }
        var wasRepeated = false
        do throws(DownloadError) {
            let answer = try await ask(
                DaemonCall(route, id: live.id.rawValue), as: ActionBody.self,
                wasRepeated: &wasRepeated)
            if let snapshot = DownloadSnapshot(answer.download) { show(snapshot, on: live) }
            return answer.changed || wasRepeated && isDone(answer.download.status.state)
        } catch { return false }
    }

    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        let answer = try await ask(DaemonCall(.keepResumeData, id: live.id.rawValue), as: ResumeDataBody.self)
        let data = try ResumeData(answer.resumeData)
        removed([live.id])
        return data
    }

    func remove(_ live: LiveDownload, deletingFile: Bool) async throws(DownloadError) {
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
        removed([live.id])
    }

    func change(
        _ live: LiveDownload, _ change: @Sendable (inout DownloadRequest) -> Void
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        let old = live.request
        var new = old
        change(&new)
        new.maxConnections = max(1, new.maxConnections)
        try await amend(live, RequestChange(from: old, to: new))
    }

    func provide(_ credentials: Credentials, to live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        var change = RequestChange()
        change.set(credentials)
        try await amend(live, change)
    }

    private func amend(_ live: LiveDownload, _ change: RequestChange) async throws(DownloadError) {
        let said = try await ask(.change, id: live.id.rawValue, change, as: ListedDownload.self)
        if let snapshot = DownloadSnapshot(said) { show(snapshot, on: live) }
    }

    func move(_ live: LiveDownload, to place: ListPlacement) async throws(DownloadError) {
        try checkMayAct(on: live)
        _ = try await ask(.move, id: live.id.rawValue, place, as: Nothing.self)
    }

    func relocate(_ live: LiveDownload, to directory: String) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        // A repeated call finds the files at their new path already.
        let answer = try await ask(
            .relocate, id: live.id.rawValue, RelocateBody(directory: directory), as: ActionBody.self)
        if let snapshot = DownloadSnapshot(answer.download) { show(snapshot, on: live) }
    }

    private func checkMayAct(on live: LiveDownload) throws(DownloadError) {
        if isShutDown { throw Self.wasShutDown }
        if live.isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name)) }
    }

    // MARK: Many at once

    func pauseAll() async throws(DownloadError) {
        _ = try await ask(.pauseMany, SelectionBody(), as: Nothing.self)
        try await catchUp()
    }

    func resumeAll() async throws(DownloadError) {
        _ = try await ask(.resumeMany, SelectionBody(), as: Nothing.self)
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

/// A response body that is ignored.
struct Nothing: Decodable, Sendable {
    init(from decoder: any Decoder) throws {}
}
