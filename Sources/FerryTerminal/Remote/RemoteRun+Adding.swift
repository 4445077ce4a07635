import Ferry
import FerryAPI
import FerryCore
import Foundation

extension RemoteRun {
    /// Runs `ferry add`.
    package func add(_ options: AddOptions, world: PlanningWorld = .system) async throws -> ExitCode {
        let settings = try await link.ask(.settings, as: SettingsBody.self)
        let plan = try AddPlanner.plan(
            options, directory: settings.directory, world: world, now: Date(), calendar: .current)
        let manager = DownloadManager(.background(identifier: FerryAPI.defaultSession))
        let result: Result<Bool, any Error>
        do { result = .success(try await add(plan, to: manager)) } catch { result = .failure(error) }
        await manager.shutdown()
        return try result.get() ? .done : .usage
    }

    /// Adds a batch at a time. Returns false if a line of a list is unusable.
    private func add(_ plan: AddPlanner.Plan, to manager: DownloadManager) async throws -> Bool {
        var isWhole = true
        var batch: [DownloadRequest] = []
        for item in plan.items {
            if case .unusable(let line) = item {
                console.message("ferry: " + line)
                isWhole = false
            }
            guard let request = item.request else { continue }
            batch.append(plan.complete(request))
            // Identifiers are assigned here, so that a repeated call adds nothing twice, and a different identifier
            // in the response means that the URL was already listed.
            if request.id == nil { batch[batch.count - 1].id = DownloadID.make() }
            if batch.count == FerryAPI.mostAdded { try await add(&batch, to: manager) }
        }
        try await add(&batch, to: manager)
        return isWhole
    }

    private func add(_ batch: inout [DownloadRequest], to manager: DownloadManager) async throws {
        let statuses = try await manager.download(batch).map(\.status)
        for (request, status) in zip(batch, statuses) where request.id != status.id {
            console.message(AddPlanner.listedAlready(status))
        }
        try await show(statuses)
        batch = []
    }

    private func show(_ statuses: [DownloadStatus]) async throws {
        if json {
            for status in statuses { say(try await link.ask(.show, id: status.id.rawValue, as: ListedDownload.self)) }
            return
        }
        for status in statuses { say(PrintableText.escape("\(status.id.rawValue)  \(status.name)")) }
    }
}
