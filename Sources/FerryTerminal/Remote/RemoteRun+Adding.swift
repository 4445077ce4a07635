import Ferry
import FerryAPI
import FerryClient
import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RemoteRun {
    /// Runs `ferry add`.
    package func add(_ options: AddOptions, world: PlanningWorld = .system) async throws -> ExitCode {
        try AddPlanner.check(options)
        // The daemon's directory is needed for files without a directory of their own.
        let directory =
            options.files.directory == nil ? try await link.ask(.settings, as: SettingsBody.self).directory : ""
        let plan = try AddPlanner.plan(
            options, directory: directory, world: world, now: Date(), zone: .current)
        var (isWhole, isEmpty) = (true, true)
        var batch: [DownloadRequest] = []
        for item in plan.items {
            isEmpty = false
            if case .unusable(let line) = item {
                console.message("ferry: " + line)
                isWhole = false
            }
            guard var request = item.request.map(plan.complete) else { continue }
            // Identifiers are assigned here, so that a repeated call adds nothing twice, and a different identifier
            // in the response means that the URL was already listed.
            request.id = request.id ?? DownloadID.make()
            batch.append(request)
            if batch.count == FerryAPI.mostAdded { try await add(&batch) }
        }
        // If a line of a list is unusable, the other lines are added, and the exit code is 2.
        try await add(&batch)
        if isEmpty { console.message("ferry: " + PlannedItems.empty.shown) }
        return isWhole ? .done : .usage
    }

    private func add(_ batch: inout [DownloadRequest]) async throws {
        if batch.isEmpty { return }
        let added = try await link.ask(.add, json: NewDownloads(batch), as: DownloadItems.self).items
        let new = Set(batch.map(\.id))
        let places = Set(added.compactMap(\.directory)).sorted()
        if width != nil, !json, !places.isEmpty {
            let text: Reason = "will be saved to \(places.joined(separator: ", ")); ferry watch shows the progress"
            console.message("ferry: " + text.shown)
        }
        for one in added {
            if !new.contains(one.id) { console.message(AddPlanner.listedAlready(one.status)) }
            if json { say(one) } else { say(PrintableText.escape("\(one.id.rawValue)  \(one.status.name)")) }
        }
        batch = []
    }
}
