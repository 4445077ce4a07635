package import ArgumentParser
package import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Turns the arguments of `ferry add` into requests. Pure except for its ``PlanningWorld``.
package enum AddPlanner {
    package struct Plan: Sendable {
        /// The items, none of them a directory, with absolute destinations whose directories have been created.
        package let items: PlannedItems
        /// Applies the options to an item's request.
        package let complete: @Sendable (DownloadRequest) -> DownloadRequest
    }

    private static func refuse(_ output: String) -> UsageError {
        UsageError("-o \(output): the daemon writes to files only; use ferry get")
    }

    /// Throws for options that no daemon accepts. Called before a daemon is started.
    package static func check(_ options: AddOptions) throws(UsageError) {
        if options.files.dedup { throw UsageError("--dedup works only with ferry get") }
        if let output = options.files.output, RequestPlanner.descriptor(output) != nil { throw refuse(output) }
    }

    /// Returns the plan.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the directory for files that have no directory of their own.
    ///   - absolute: Resolves a path against the working directory.
    package static func plan(
        _ options: AddOptions, directory: String, world: PlanningWorld, now: Date, zone: LocalZone,
        absolute: @escaping @Sendable (String) -> String = OwnProgram.absolute
    ) throws(UsageError) -> Plan {
        try check(options)
        let start = try options.at.map { text throws(UsageError) in
            try TimeWord.parse(text, now: now, zone: zone)
        }
        let priority = try options.priority.map { text throws(UsageError) in
            try SetPlanner.priority(("--priority", text))
        }
        let metered = try options.metered.map { text throws(UsageError) in try SetPlanner.flag(("--metered", text)) }
        var world = world
        world.directory = directory
        world.absolute = absolute
        world.openStream = { path throws(UsageError) in throw refuse(path) }
        // The limit applies to each download: this process itself downloads nothing.
        let rateLimit = try RequestPlanner.rateLimit(options.request)
        let items = try RequestPlanner.items(options.files, options.request, options.trust, world: world)
        if items.uploads { throw UsageError("ferry add downloads to files; for s3:// use ferry get") }
        if items.hasDirectories { throw UsageError("ferry add takes URLs and part files, not directories") }
        return Plan(items: items) { [options] request in
            var request = request
            if case .part(let path) = request.destination { request.destination = .part(absolute(path)) }
            request.startsPaused = options.paused
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
        let text: Reason = "already listed: \(status.name) (\(DownloadTable.state(status.state))); --again adds another"
        return "ferry: " + text.shown
    }
}

/// The arguments of `ferry add`.
package struct AddOptions: ParsableArguments, Sendable {
    @OptionGroup package var files: FileOptions

    @Flag(help: "Add the downloads paused.")
    package var paused = false

    @Option(
        help: ArgumentHelp(
            "Start time: 22:30, 10pm, tomorrow 8:00, 2026-12-24 22:30, 2026-12-24T22:30:00Z, +2h.", valueName: "time"))
    package var at: String?

    @Option(help: ArgumentHelp("Priority: low, normal, high or a number.", valueName: "priority"))
    package var priority: String?

    @Option(
        help: ArgumentHelp(
            "Whether metered networks may be used (default: the daemon's setting).", valueName: "on|off"))
    package var metered: String?

    @Option(help: ArgumentHelp("A label.", valueName: "text"))
    package var label: String?

    @Flag(help: "Add the download even if its URL is already listed.")
    package var again = false

    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust") package var trust: TrustOptions

    package init() {}
}
