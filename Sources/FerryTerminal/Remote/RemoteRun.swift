import Ferry
import FerryAPI
package import FerryClient
import FerryCore

/// Runs one command against the daemon and writes the result to standard output.
package struct RemoteRun: Sendable {
    package let link: DaemonLink
    package let console: Console
    /// Whether results are lines of JSON in the API's format.
    package let json: Bool
    /// The width of the terminal on standard output, in columns; `nil` without one.
    let width: Int?
    /// Asks a question on the terminal; `nil` without one.
    package let confirm: (@Sendable (String) -> Bool)?
    /// The session whose downloads are used, or `all`; `nil` for the session of the command line and the page.
    let session: String?

    package init(
        _ link: DaemonLink, session: String? = nil, console: Console, json: Bool, width: Int?,
        confirm: (@Sendable (String) -> Bool)? = nil
    ) {
        self.link = link
        self.confirm = confirm
        self.session = session
        self.console = console
        self.json = json
        self.width = width
    }

    /// Writes a line to standard output.
    package func say(_ line: String) { console.result(line + "\n") }

    /// Writes a value to standard output as a line of JSON.
    package func say(_ object: some Encodable & Sendable) { say(JSONLine.of(object).text) }

    // MARK: Listing

    /// The options of `ferry list`.
    package struct ListOptions: Sendable, Hashable {
        /// State names, separated by commas.
        package var states: String?
        package var search: String?
        package var sort = "queue"
        package var isReversed = false
        package var limit: Int?
        /// Whether to print only the names, for a shell's completions.
        package var areNames = false

        package init() {}

        /// Whether some downloads may be omitted.
        package var isPartial: Bool { isFiltered || limit != nil }
        var isFiltered: Bool { states != nil || search != nil }

        /// Returns the query items. Throws for an unknown word.
        func query() throws(UsageError) -> [(name: String, value: String)] {
            var query: [(name: String, value: String)] = []
            if let states {
                let known = DownloadState.Kind.allCases.map(\.rawValue)
                for word in states.split(at: ",") where !known.contains(String(word)) {
                    if ["queued", "scheduled"].contains(String(word)) {
                        throw UsageError("--state \(word): such downloads are waiting: write --state waiting")
                    }
                    throw UsageError("--state \(word): choose from \(known.joined(separator: ", "))")
                }
                query.append(("state", states))
            }
            if let search { query.append(("search", search)) }
            let sorts = ListSort.allCases.map(\.rawValue)
            guard sorts.contains(sort) else {
                throw UsageError("--sort \(sort): choose from \(sorts.joined(separator: ", "))")
            }
            query.append(("sort", sort))
            if isReversed { query.append(("order", "desc")) }
            if let limit, limit < 1 { throw UsageError("--limit needs a number of 1 or more") }
            return query
        }
    }

    /// Runs `ferry list`.
    package func list(_ options: ListOptions) async throws -> ExitCode {
        let downloads = try await link.downloads(try options.query() + sessionQuery, limit: options.limit ?? .max)
        if json {
            for download in downloads { say(download) }
        } else if options.areNames {
            for download in downloads { say(PrintableText.escape(download.status.name)) }
        } else {
            // A prefix that is unique among the listed downloads may match others.
            let identifiers = options.isPartial ? .whole : ShortIdentifiers(downloads.map(\.id.rawValue))
            let table = DownloadTable(width: width, showsSessions: session == FerryAPI.everySession)
            for line in table.lines(downloads, identifiers: identifiers) { say(line) }
            if downloads.isEmpty { console.message("ferry: " + (try await nothing(options)).shown) }
        }
        if !options.areNames, let path = try? await link.greet().damagedCatalogue {
            console.message("ferry: " + ("the list: \(Self.damage(path))" as Reason).shown)
        }
        return .done
    }

    /// Returns the message in place of an empty list. It lists all sessions if none has the given name.
    private func nothing(_ options: ListOptions) async throws -> Reason {
        if let session, session != FerryAPI.everySession {
            let known = try await link.ask(.sessions, as: SessionItems.self).items.map(\.identifier)
            if !known.contains(where: session.hasSameBytes) {
                return "there is no session \(TextError.quote(session)): there are \(known.joined(separator: ", "))"
            }
        }
        return options.isFiltered ? "no download matches" : "there are no downloads"
    }

    /// Runs `ferry show`.
    package func show(_ words: [String]) async throws -> ExitCode {
        let chosen = try await pick(words)
        for (index, one) in chosen.enumerated() {
            let detail = try await link.ask(.show, id: one.id.rawValue, as: DownloadDetail.self)
            let events = try await link.ask(.history, id: one.id.rawValue, as: EventItems.self).items
            if json {
                say(ShownDownload(detail, events: events))
            } else {
                if index > 0 { say("") }
                for line in DownloadFacts.lines(detail, events: events) { say(line) }
            }
        }
        return .done
    }

    /// Returns the downloads that these words select.
    func pick(_ words: [String]) async throws(DownloadError) -> [ListedDownload] {
        words == ["all"] ? try await link.downloads(sessionQuery) : try await find(words)
    }

    /// Returns one download for each of these words.
    func find(_ words: [String]) async throws(DownloadError) -> [ListedDownload] {
        try await link.ask(
            .find, query: sessionQuery, json: SelectionBody(words: words), as: DownloadItems.self
        ).items
    }

    var sessionQuery: [(name: String, value: String)] { session.map { [("session", $0)] } ?? [] }

    // MARK: Settings

    /// Runs `ferry set`.
    package func set(
        _ words: [String], headers: [String] = [], user: String? = nil
    ) async throws -> ExitCode {
        let plan = try SetPlanner.plan(words, headers: headers, user: user)
        if session != nil {
            guard case .downloads = plan else {
                throw UsageError("--session goes with downloads: name some before the settings")
            }
        }
        switch plan {
        case .show: show(try await link.ask(.settings, as: SettingsBody.self))
        case .daemon(let change): show(try await link.ask(.changeSettings, json: change, as: SettingsBody.self))
        case .downloads(let names, let change):
            if change.request.hasSecrets { try SetPlanner.checkServers(of: try await pick(names).map(\.url), change) }
            return try await many(.changeMany, ChangeBody(words: names, change: change), done: "changed")
        }
        return .done
    }

    private func show(_ settings: SettingsBody) {
        if json { return say(settings) }
        for line in SettingsText.lines(settings) { say(line) }
    }
}
