import Ferry
import FerryAPI
import FerryClient
import FerryCore

/// Sets of files in the daemon: `ferry sync --daemon`, `ferry sets`.
extension RemoteRun {
    /// An action on sets.
    package enum SetAction: String, Sendable, Hashable, CaseIterable {
        case pause, resume, cancel, remove

        fileprivate var route: Route {
            switch self {
            case .pause: .pauseSet
            case .resume: .resumeSet
            case .cancel: .cancelSet
            case .remove: .removeSet
            }
        }

        /// Whether a set in this state permits the action.
        fileprivate func isPermitted(in state: FileSet.State) -> Bool {
            self != .pause || state.isActive || state == .paused
        }
    }

    /// Runs `ferry sync --daemon`: prints the identifier of the set, and a message if the set was already listed.
    package func addSet(_ arguments: SyncArguments, standard: GetOptions) async throws -> ExitCode {
        let planner = SyncPlanner(
            standard, arguments.request, arguments.trust, arguments.run, arguments.show, world: .system)
        let new = try planner.daemonSet(arguments, standard: standard)
        let all = try await link.ask(.sets, as: FileSetItems.self).items
        let set = try await link.ask(.addSet, json: new, as: FileSet.self)
        if !arguments.show.quiet, let listed = all.first(where: { $0.id == set.id }) {
            console.message(FileSetText.listedAlready(listed, as: set))
        }
        if json { say(set) } else { say(set.id) }
        return .done
    }

    /// Runs `ferry sets`.
    ///
    /// - Parameter action: The word of an action; `nil` to list the sets.
    package func sets(_ action: String?, _ words: [String]) async throws -> ExitCode {
        let all = try await link.ask(.sets, as: FileSetItems.self).items
        guard let action else {
            show(all, among: all)
            return .done
        }
        guard let action = SetAction(rawValue: action) else {
            let known = SetAction.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(TextError.quote(action)) is not an action on sets: the actions are \(known)")
        }
        guard !words.isEmpty else { throw UsageError("name the sets, or all") }
        var done: [FileSet] = []
        var codes: Set<ExitCode> = []
        for set in try Self.chosen(words, among: all) where words != ["all"] || action.isPermitted(in: set.state) {
            do throws(DownloadError) {
                if action == .remove {
                    _ = try await link.ask(.removeSet, id: set.id, as: RemovedSet.self)
                    if json { say(set) } else { say(FileSetText.removed(set)) }
                } else {
                    done.append(try await link.ask(action.route, id: set.id, as: FileSet.self))
                }
            } catch {
                if json { console.result(Program.failure(error, id: DownloadID(rawValue: set.id))) }
                codes.insert(fail(error, set.set.directory))
            }
        }
        show(done, among: all)
        return ExitCode.combine(codes)
    }

    /// The response to a removal, which has no members.
    private struct RemovedSet: Decodable, Sendable {}

    private func show(_ sets: [FileSet], among all: [FileSet]) {
        if json {
            for set in sets { say(set) }
            return
        }
        let identifiers = ShortIdentifiers(all.map(\.id))
        for set in sets { say(PrintableText.escape(FileSetText.line(set, identifiers))) }
        if all.isEmpty { console.message("ferry: " + ("there are no sets" as Reason).shown) }
    }

    /// Returns the sets that the words select: identifiers, their prefixes, or `all`.
    static func chosen(_ words: [String], among all: [FileSet]) throws(UsageError) -> [FileSet] {
        if words == ["all"] { return all }
        var chosen: [FileSet] = []
        for word in words {
            let found = all.filter { $0.id == word }
            let begun = found.isEmpty ? all.filter { $0.id.utf8.hasPrefix(word) } : found
            guard let set = begun.first else { throw UsageError("no set begins with \(TextError.quote(word))") }
            guard begun.count == 1 else {
                throw UsageError("several sets begin with \(TextError.quote(word)); give more of it")
            }
            if !chosen.contains(where: { $0.id == set.id }) { chosen.append(set) }
        }
        return chosen
    }
}

/// The line of `ferry sets` for one set, and the message about a set that is added twice.
enum FileSetText {
    /// Returns the message for a set that was already listed, according to its state and options before it was added again.
    static func listedAlready(_ listed: FileSet, as set: FileSet) -> String {
        let place = set.set.directory
        let text: Reason =
            if listed.set != set.set || listed.root != set.root {
                "already listed, and synced again with the options of this command: \(place)"
            } else if listed.state.isActive {
                "already listed, and being synced: \(place)"
            } else {
                "already listed, and synced again: \(place)"
            }
        return "ferry: " + text.shown
    }

    /// Returns the line for a set that was removed from the list.
    static func removed(_ set: FileSet) -> String {
        PrintableText.escape("\(("removed" as Reason).local): \(set.set.directory)")
    }

    static func line(_ set: FileSet, _ identifiers: ShortIdentifiers) -> String {
        let (id, place) = (identifiers.short(set.id), set.set.directory)
        let (received, speed) = (ByteText.size(set.receivedBytes), ByteText.rate(set.bytesPerSecond ?? 0))
        let reason = set.error?.reason ?? .words("")
        let next = set.until.map { LocalTime.text($0) }
        let text: Reason =
            switch set.state {
            case .waiting: "\(id)  waiting  \(place)"
            case .syncing where next != nil:
                "\(id)  syncing: \(reason); next attempt at \(next ?? "")  \(place)"
            case .syncing:
                "\(id)  syncing, \(set.done) of \(set.files) files, \(received) received, \(speed)  \(place)"
            case .paused: "\(id)  paused  \(place)"
            case .complete where set.files == 1: "\(id)  complete, 1 file  \(place)"
            case .complete: "\(id)  complete, \(set.files) files  \(place)"
            case .incomplete:
                "\(id)  incomplete, \(set.failed) of \(set.files) files are missing or not current  \(place)"
            case .failed: "\(id)  failed: \(reason)  \(place)"
            case .cancelled: "\(id)  cancelled  \(place)"
            }
        return text.local
    }
}
