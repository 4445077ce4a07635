package import Ferry
import FerryCore
package import Foundation

/// The arguments of `ferry add`.
package struct AddOptions: Sendable, Hashable {
    /// The options shared with `ferry get`.
    package var get = GetOptions()
    package var isPaused = false
    /// The earliest start, in a format of ``TimeWord``.
    package var at: String?
    package var label: String?
    /// `low`, `normal`, `high` or a number.
    package var priority: String?
    /// `on` or `off`; `nil` for the daemon's setting.
    package var metered: String?
    /// Whether to add another download if the same URL is listed.
    package var again = false

    package init() {}
}

/// Turns the arguments of `ferry add` into requests. Pure except for its ``PlanningWorld``.
package enum AddPlanner {
    package struct Plan: Sendable {
        /// The items, none of them a directory, with absolute destinations whose directories are created.
        package let items: PlannedItems
        /// Adds what the options say to an item's request.
        package let complete: @Sendable (DownloadRequest) -> DownloadRequest
    }

    /// Returns the plan.
    ///
    /// - Parameters:
    ///   - directory: The absolute directory of files without one of their own.
    ///   - absolute: Resolves a path against the working directory.
    package static func plan(
        _ options: AddOptions, directory: String, world: PlanningWorld, now: Date, calendar: Calendar,
        absolute: @escaping @Sendable (String) -> String = OwnProgram.absolute
    ) throws(UsageError) -> Plan {
        guard options.get.output != "-" else {
            throw UsageError("-o -: the daemon has no standard output; use ferry get")
        }
        let start = try options.at.map { text throws(UsageError) in
            try TimeWord.parse(text, now: now, calendar: calendar)
        }
        let priority = try options.priority.map { text throws(UsageError) in
            try SetPlanner.priority(("--priority", text))
        }
        let metered = try options.metered.map { text throws(UsageError) in try SetPlanner.flag(("--metered", text)) }
        var world = world
        world.directory = directory
        world.absolute = absolute
        let plan = try GetPlanner.plan(options.get, world: world)
        if plan.items.hasDirectories { throw UsageError("ferry add takes URLs and part files, no directories") }
        // The limit applies to each download: this process itself downloads nothing.
        let rateLimit = plan.configuration.rateLimit
        return Plan(items: plan.items) { request in
            var request = request
            if case .part(let path) = request.destination { request.destination = .part(absolute(path)) }
            request.startsPaused = options.isPaused
            request.notBefore = start
            request.label = options.label
            if let priority { request.priority = DownloadPriority(rawValue: priority) }
            request.network.allowsMetered = metered
            request.rateLimit = rateLimit
            if options.again { request.onDuplicate = .addAnother }
            return request
        }
    }

    /// Returns the message for a download whose URL was already listed.
    package static func listedAlready(_ status: DownloadStatus) -> String {
        PrintableText.escape(
            "ferry: already listed: \(status.name) (\(DownloadTable.state(status.state))); --again adds another")
    }
}
