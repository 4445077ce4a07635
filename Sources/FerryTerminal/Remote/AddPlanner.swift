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
        package var requests: [DownloadRequest]
        /// Unusable lines of lists. Other lines are not affected.
        package var badLines: [String]
    }

    /// Returns the plan. Its destinations are absolute, and their directories are created.
    ///
    /// - Parameters:
    ///   - directory: The absolute directory of files without one of their own.
    ///   - absolute: Resolves a path against the working directory.
    package static func plan(
        _ options: AddOptions, directory: String, world: PlanningWorld, now: Date, calendar: Calendar,
        absolute: (String) -> String = OwnProgram.absolute
    ) throws(UsageError) -> Plan {
        var get = options.get
        guard get.output != "-" else { throw UsageError("-o -: the daemon has no standard output; use ferry get") }
        get.directory = get.directory.map(absolute)
        var inner = world
        // The destinations are not final yet; directories are prepared below.
        inner.prepareDirectory = { _ in }
        let plan = try GetPlanner.plan(get, world: inner)
        let start = try options.at.map { text throws(UsageError) in
            try TimeWord.parse(text, now: now, calendar: calendar)
        }
        let priority = try options.priority.map { text throws(UsageError) in
            try SetPlanner.priority(("--priority", text))
        }
        let metered = try options.metered.map { text throws(UsageError) in try SetPlanner.flag(("--metered", text)) }
        var requests: [DownloadRequest] = []
        for item in plan.items {
            guard case .request(var request) = item else {
                throw UsageError("ferry add takes URLs and part files, no directories")
            }
            request.destination = try place(request.destination, directory, absolute)
            request.startsPaused = options.isPaused
            request.notBefore = start
            request.label = options.label
            if let priority { request.priority = DownloadPriority(rawValue: priority) }
            request.network.allowsMetered = metered
            // The limit applies to each download: this process itself downloads nothing.
            request.rateLimit = plan.configuration.rateLimit
            if options.again { request.onDuplicate = .addAnother }
            requests.append(request)
        }
        for made in Set(requests.compactMap { Self.directory(of: $0.destination) }).sorted() {
            try world.prepareDirectory(made)
        }
        return Plan(requests: requests, badLines: plan.badLines)
    }

    /// Returns the message for a download whose URL was already listed.
    package static func listedAlready(_ status: DownloadStatus) -> String {
        PrintableText.escape(
            "ferry: already listed: \(status.name) (\(DownloadTable.state(status.state))); --again adds another")
    }

    private static func place(
        _ destination: DownloadRequest.Destination, _ directory: String, _ absolute: (String) -> String
    ) throws(UsageError) -> DownloadRequest.Destination {
        switch destination {
        case .directory(".", let name): .directory(directory, name: name)
        case .directory(let given, let name): .directory(absolute(given), name: name)
        case .file(let path): .file(Paths.join(directory, path))
        case .part(let path): .part(absolute(path))
        case .stream: throw UsageError("-o -: the daemon has no standard output; use ferry get")
        }
    }

    private static func directory(of destination: DownloadRequest.Destination) -> String? {
        switch destination {
        case .directory(let directory, _): directory
        case .file(let path): Paths.parent(of: path)
        case .part, .stream: nil
        }
    }
}
