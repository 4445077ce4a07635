import Ferry
import FerryAPI
import FerryCore

/// Actions on downloads.
extension RemoteRun {
    /// An action on selected downloads.
    package enum Action: String, Sendable, Hashable {
        case pause, resume, cancel

        fileprivate var done: String {
            switch self {
            case .pause: "paused"
            case .resume: "resumed"
            case .cancel: "cancelled"
            }
        }
        fileprivate var action: DownloadAction {
            switch self {
            case .pause: .pause
            case .resume: .resume
            case .cancel: .cancel
            }
        }
    }

    /// Runs `ferry pause`, `resume` or `cancel`.
    package func act(_ action: Action, on words: [String]) async throws -> ExitCode {
        let chosen = try await pick(words)
        let isAll = words == ["all"]
        switch action {
        case .pause, .resume:
            // In one request: separate ones would start a waiting download after each pause.
            let allowed = chosen.filter { $0.status.state.actions.contains(action.action) }
            if !allowed.isEmpty {
                let route: Route = action == .pause ? .pauseMany : .resumeMany
                let body = SelectionBody(ids: allowed.map(\.id.rawValue))
                _ = try await link.ask(route, body: body, as: CountBody.self)
            }
            let done = Set(allowed.map(\.id))
            let now = Dictionary(try await downloads().map { ($0.id, $0) }) { first, _ in first }
            for one in chosen {
                let isDone = done.contains(one.id)
                if isDone || !isAll { report(action, now[one.id] ?? one, isDone: isDone) }
            }
        case .cancel:
            // Cancels waiting downloads first: otherwise each would start when a running one has been cancelled.
            for one in chosen.reversed() {
                let answer = try await link.ask(.cancel, id: one.id.rawValue, as: ActionBody.self)
                if answer.changed || !isAll { report(action, answer.download, isDone: answer.changed) }
            }
        }
        return .done
    }

    private func report(_ action: Action, _ download: ListedDownload, isDone: Bool) {
        if json { return say(download) }
        let name = PrintableText.escape(download.status.name)
        say(isDone ? "\(action.done): \(name)" : "unchanged: \(name) (\(DownloadTable.state(download)))")
    }

    /// Runs `ferry remove`. A download that cannot be removed does not affect the others.
    package func remove(_ words: [String], deletingFile: Bool) async throws -> ExitCode {
        // In reverse order: otherwise waiting downloads would start when the first ones have been removed.
        let chosen = Array(try await pick(words).reversed())
        var codes: Set<ExitCode> = []
        for start in stride(from: 0, to: chosen.count, by: FerryAPI.mostAtOnce) {
            let some = chosen[start..<min(chosen.count, start + FerryAPI.mostAtOnce)]
            let body = RemovalBody(some.map(\.id.rawValue), deleteFiles: deletingFile)
            let items = try await link.ask(.removeMany, body: body, as: RemovalItems.self).items
            let ended = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
            for one in some {
                if let error = ended[one.id.rawValue]?.error {
                    codes.insert(fail(error, one))
                } else if json {
                    say(one)
                } else {
                    say(PrintableText.escape("removed: \(one.status.name)"))
                }
            }
        }
        return ExitCode.combine(codes)
    }

    /// Reports the failure of one of several downloads. Returns its exit code.
    private func fail(_ error: DownloadError, _ download: ListedDownload) -> ExitCode {
        if json { console.result(Program.failure(error)) }
        console.message("ferry: " + ErrorText.line(error, name: download.status.name))
        return ExitCode.of(error)
    }

    /// Runs `ferry clear`.
    package func clear(_ which: String, deletingFiles: Bool) async throws -> ExitCode {
        guard let which = ClearFilter(rawValue: which) else {
            let known = ClearFilter.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(which) cannot be cleared; there are \(known)")
        }
        let count = try await link.ask(.clear, body: ClearBody(which, deleteFiles: deletingFiles), as: CountBody.self)
        if json { say(count) } else { say("removed: \(count.changed) download\(count.changed == 1 ? "" : "s")") }
        return .done
    }

    /// Runs `ferry move`.
    package func move(_ word: String, to words: [String]) async throws -> ExitCode {
        let all = try await downloads()
        let one = try DownloadPicker.one(word, from: all)
        let place = try MovePlanner.place(words) { other throws(UsageError) in
            try DownloadPicker.one(other, from: all).id
        }
        let answer = try await link.ask(.move, id: one.id.rawValue, body: place, as: ActionBody.self)
        if json { say(answer.download) } else { say(PrintableText.escape("moved: \(one.status.name)")) }
        return .done
    }

    /// Runs `ferry relocate`.
    package func relocate(_ word: String, to directory: String) async throws -> ExitCode {
        let one = try DownloadPicker.one(word, from: try await downloads())
        let answer = try await link.ask(
            .relocate, id: one.id.rawValue, body: RelocateBody(directory: OwnProgram.absolute(directory)),
            as: ActionBody.self)
        if json {
            say(answer.download)
        } else {
            let place = answer.download.status.path ?? answer.download.directory ?? directory
            say(PrintableText.escape("\(answer.changed ? "moved to" : "is already at"): \(place)"))
        }
        return .done
    }
}
