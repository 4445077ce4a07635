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
        for line in plan.badLines { console.message("ferry: " + line) }
        // Identifiers are assigned here, so that a repeated call adds nothing twice, and a different identifier in
        // the response means that the URL was already listed.
        var requests = plan.requests
        for index in requests.indices where requests[index].id == nil { requests[index].id = DownloadID.make() }
        let manager = DownloadManager(.background(identifier: FerryAPI.defaultSession))
        let result: Result<[Download], DownloadError>
        do throws(DownloadError) {
            var added: [Download] = []
            for start in stride(from: 0, to: requests.count, by: FerryAPI.mostAdded) {
                let some = requests[start..<min(requests.count, start + FerryAPI.mostAdded)]
                added += try await manager.download(Array(some))
            }
            result = .success(added)
        } catch { result = .failure(error) }
        let statuses = (try? result.get())?.map(\.status) ?? []
        await manager.shutdown()
        _ = try result.get()
        for (request, status) in zip(requests, statuses) where request.id != status.id {
            console.message(AddPlanner.listedAlready(status))
        }
        try await show(statuses)
        return plan.badLines.isEmpty ? .done : .usage
    }

    private func show(_ statuses: [DownloadStatus]) async throws {
        if json {
            for status in statuses { say(try await link.ask(.show, id: status.id.rawValue, as: ListedDownload.self)) }
            return
        }
        for status in statuses { say(PrintableText.escape("\(status.id.rawValue)  \(status.name)")) }
    }
}
