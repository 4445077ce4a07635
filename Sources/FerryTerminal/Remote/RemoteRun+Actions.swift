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

    /// Runs `ferry pause`, `resume` or `cancel`. A download that refuses the action does not affect the others.
    package func act(_ action: Action, on words: [String]) async throws -> ExitCode {
        let named = try await pick(words)
        let allowed = Set(named.filter { $0.status.state.actions.contains(action.action) }.map(\.id))
        // Of all, those are meant to which the action can happen.
        let chosen = words == ["all"] ? named.filter { allowed.contains($0.id) } : named
        var now: [DownloadID: ListedDownload] = [:]
        var failures: [DownloadID: DownloadError] = [:]
        switch action {
        case .pause, .resume:
            // In one request: separate ones would start a waiting download after each pause.
            if !chosen.isEmpty {
                let body = SelectionBody(ids: chosen.map(\.id.rawValue))
                let count = try await link.ask(
                    action == .pause ? .pauseMany : .resumeMany, json: body, as: ActionCount.self)
                failures = count.byID
            }
            // A line has the name alone, or for an unchanged download the state that was the reason.
            if json { for one in try await downloads() { now[one.id] = one } }
        case .cancel:
            // Cancels waiting downloads first: otherwise each would start when a running one has been cancelled.
            for one in chosen.reversed() {
                do throws(DownloadError) {
                    now[one.id] = try await link.ask(.cancel, id: one.id.rawValue, as: ListedDownload.self)
                } catch { failures[one.id] = error }
            }
        }
        var codes: Set<ExitCode> = []
        for one in chosen {
            if let error = failures[one.id] {
                codes.insert(fail(error, one))
            } else {
                report(action, now[one.id] ?? one, isDone: allowed.contains(one.id))
            }
        }
        return ExitCode.combine(codes)
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
            let failures = try await link.ask(.removeMany, json: body, as: ActionCount.self).byID
            for one in some {
                if let error = failures[one.id] {
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
        let count = try await link.ask(.clear, json: ClearBody(which, deleteFiles: deletingFiles), as: ActionCount.self)
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
        let moved = try await link.ask(.move, id: one.id.rawValue, json: place, as: ListedDownload.self)
        if json { say(moved) } else { say(PrintableText.escape("moved: \(one.status.name)")) }
        return .done
    }

    /// Runs `ferry relocate`.
    package func relocate(_ word: String, to directory: String) async throws -> ExitCode {
        let one = try DownloadPicker.one(word, from: try await downloads())
        let moved = try await link.ask(
            .relocate, id: one.id.rawValue, json: RelocateBody(directory: OwnProgram.absolute(directory)),
            as: ListedDownload.self)
        if json {
            say(moved)
        } else {
            say(PrintableText.escape("moved to: \(moved.status.path ?? moved.directory ?? directory)"))
        }
        return .done
    }
}

extension ActionCount {
    fileprivate var byID: [DownloadID: DownloadError] {
        Dictionary((failures ?? []).map { (DownloadID(rawValue: $0.id), $0.error) }) { first, _ in first }
    }
}
