import Ferry
import FerryAPI
import FerryClient
import FerryCore

/// Actions on downloads.
extension RemoteRun {
    /// An action on selected downloads.
    package enum Action: String, Sendable, Hashable {
        case pause, resume, cancel, restart

        fileprivate var done: String {
            switch self {
            case .pause: "paused"
            case .resume: "resumed"
            case .cancel: "cancelled"
            case .restart: "restarted"
            }
        }
        fileprivate var route: Route {
            switch self {
            case .pause: .pauseMany
            case .resume: .resumeMany
            case .cancel: .cancelMany
            case .restart: .restartMany
            }
        }
    }

    /// Runs `ferry pause`, `resume`, `cancel` or `restart`.
    package func act(_ action: Action, on words: [String]) async throws -> ExitCode {
        try await many(action.route, SelectionBody(words: words), done: action.done)
    }

    /// Runs `ferry cancel`.
    ///
    /// - Parameter isSure: Whether to skip the confirmation.
    package func cancel(_ words: [String], isSure: Bool) async throws -> ExitCode {
        guard try await isMeant("cancel", words, deletingFiles: false, isSure) else { return .interrupted }
        return try await act(.cancel, on: words)
    }

    /// Runs `ferry remove`.
    ///
    /// - Parameter isSure: Whether to skip the confirmation.
    package func remove(_ words: [String], deletingFiles: Bool, isSure: Bool) async throws -> ExitCode {
        guard try await isMeant("remove", words, deletingFiles: deletingFiles, isSure) else { return .interrupted }
        return try await many(.removeMany, RemovalBody(words: words, deleteFiles: deletingFiles), done: "removed")
    }

    /// The minimum size of a deletion that must be confirmed.
    private static let much: ByteCount = 10_000_000

    /// Whether to carry out an action that deletes data. On a terminal, asks for confirmation if much is deleted.
    private func isMeant(
        _ verb: String, _ words: [String], deletingFiles: Bool, _ isSure: Bool
    ) async throws(DownloadError) -> Bool {
        guard let confirm, !isSure else { return true }
        var bytes: ByteCount = 0
        let what: String
        if words == ["all"] {
            let counts = try await link.ask(.statistics, query: sessionQuery, as: StatisticsBody.self)
            bytes = counts.partBytes + (deletingFiles ? counts.finishedBytes : 0)
            what = ("all downloads" as Reason).local
        } else {
            let downloads = try await find(words)
            for one in downloads {
                switch one.status.state {
                case .completed: if deletingFiles { bytes += one.status.progress.completedBytes }
                case .cancelled: break
                default: bytes += one.status.progress.completedBytes
                }
            }
            what = downloads.count == 1 ? downloads[0].status.name : Self.number(downloads.count)
        }
        let size = ByteText.size(bytes)
        let question: Reason =
            verb == "cancel" ? "cancel \(what) and delete \(size)?" : "remove \(what) and delete \(size)?"
        return bytes < Self.much || confirm(question.local)
    }

    private struct KeptPart: Encodable {
        var id: DownloadID
        var name: String
        /// The path of the part file; `nil` if there is none.
        var path: String?
    }

    /// Runs `ferry cancel --keep` and `ferry remove --keep`: removes downloads from the list and keeps their part files.
    package func keep(_ words: [String]) async throws -> ExitCode {
        var codes: Set<ExitCode> = []
        for one in try await pick(words) where words != ["all"] || one.status.state.actions.contains(.cancel) {
            do throws(DownloadError) {
                let path = try await keptPart(of: one.id)
                let name = PrintableText.escape(one.status.name)
                if json {
                    say(KeptPart(id: one.id, name: one.status.name, path: path))
                } else if let path {
                    let text: Reason = "off the list: \(name); to resume: ferry get \(ShellWord.quote(path))"
                    say(text.shown)
                } else {
                    // Another program may have completed or deleted the part file.
                    let text: Reason =
                        one.status.progress.completedBytes > 0
                        ? "off the list: \(name); no part of it is left to resume"
                        : "off the list: \(name); nothing was received yet"
                    say(text.shown)
                }
            } catch {
                if json { console.result(Program.failure(error, id: one.id)) }
                codes.insert(fail(error, one.status.name))
            }
        }
        return ExitCode.combine(codes)
    }

    /// Removes a download from the list and keeps its part file. Returns the path of the part file, which another program may
    /// use; `nil` if there is none.
    private func keptPart(of id: DownloadID) async throws(DownloadError) -> String? {
        do throws(DownloadError) {
            let body = try await link.ask(.keepResumeData, id: id.rawValue, as: ResumeDataBody.self)
            return try ResumeData(body.resumeData).partPath
        } catch {
            // The daemon has cancelled the download, and has not deleted files of another one.
            guard error.code == .notResumable, let phrase = error.phrase,
                [.nothingYet, .nothingToResume, .partOfAnother, .partGone, .missing].contains(phrase.key)
            else { throw error }
            _ = try await link.ask(.removeMany, json: RemovalBody([id.rawValue]), as: ActionCount.self)
            return phrase.key == .partOfAnother ? phrase.arguments.first?.text(in: .english) : nil
        }
    }

    /// Acts on many downloads in one request: with separate requests, waiting downloads would start in the slots that the
    /// first requests free. A download that refuses the action does not affect the others.
    func many(_ route: Route, _ body: some Encodable & Sendable, done: String) async throws -> ExitCode {
        let count = try await link.ask(route, query: sessionQuery, json: body, as: ActionCount.self)
        let failures = count.byID
        var codes: Set<ExitCode> = []
        guard let downloads = count.downloads else {
            // An action on all downloads prints only their number.
            if json { say(count) } else { say("\(Reason.pattern(done, []).local): \(Self.number(count.changed))") }
            for failure in count.failures ?? [] {
                if json { console.result(Program.failure(failure.error, id: DownloadID(rawValue: failure.id))) }
                codes.insert(fail(failure.error, ""))
            }
            return ExitCode.combine(codes)
        }
        let unchanged = Set(count.unchanged ?? [])
        for one in downloads {
            if let error = failures[one.id] {
                if json { console.result(Program.failure(error, id: one.id)) }
                codes.insert(fail(error, one.status.name))
            } else if json {
                say(one)
            } else {
                let name = PrintableText.escape(one.status.name)
                let isUnchanged = unchanged.contains(one.id.rawValue)
                let text: Reason = "unchanged: \(name) (\(DownloadTable.state(one)))"
                let changed = "\(Reason.pattern(done, []).local): \(name)"
                let told =
                    switch route {
                    case .changeMany: Self.change(changed, of: one)
                    case .moveMany: Self.move(changed, of: one)
                    default: changed
                    }
                say(isUnchanged ? text.local : told)
            }
        }
        return ExitCode.combine(codes)
    }

    /// Returns the line of a changed download. A change resumes downloads that wait for it, but not failed ones.
    private static func change(_ line: String, of download: ListedDownload) -> String {
        guard case .failed = download.status.state else { return line }
        let resume = DownloadTable.command("resume", download)
        return ("\(line); it has failed; to try it again: \(resume)" as Reason).local
    }

    /// Returns the line of a moved download. A download of a special priority moves only among those of the same priority.
    private static func move(_ line: String, of download: ListedDownload) -> String {
        if download.priority == .normal { return line }
        let priority = DownloadFacts.priority(download.priority)
        return ("\(line), among those of the priority \(priority)" as Reason).local
    }

    private static func number(_ count: Int) -> String {
        (count == 1 ? "\(count) download" : "\(count) downloads" as Reason).local
    }

    /// Reports the failure of one of several downloads or sets. Returns its exit code.
    func fail(_ error: DownloadError, _ name: String) -> ExitCode {
        console.message("ferry: " + ErrorText.line(error, name: name))
        return ExitCode.of(error)
    }

    /// Runs `ferry clear`.
    package func clear(_ which: String, deletingFiles: Bool) async throws -> ExitCode {
        guard let which = ClearFilter(rawValue: which) else {
            let known = ClearFilter.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(which) cannot be cleared; choose from \(known)")
        }
        let count = try await link.ask(.clear, json: ClearBody(which, deleteFiles: deletingFiles), as: ActionCount.self)
        if json { say(count) } else { say("\(Reason.pattern("removed", []).local): \(Self.number(count.changed))") }
        // These files are kept, because they have changed since they were downloaded.
        for kept in count.failures ?? [] { console.message("ferry: " + kept.error.reason.shown) }
        return ExitCode.combine((count.failures ?? []).map { ExitCode.of($0.error) })
    }

    /// Runs `ferry move`.
    package func move(_ word: String, to words: [String]) async throws -> ExitCode {
        try await many(.moveMany, MoveBody(words: [word], to: try MovePlanner.place(words)), done: "moved")
    }

    /// Runs `ferry relocate`.
    package func relocate(_ word: String, to directory: String) async throws -> ExitCode {
        guard !directory.isEmpty else { throw UsageError.emptyDirectory }
        guard let one = try await find([word]).first else { throw UsageError("\(word) is not one download") }
        let moved = try await link.ask(
            .relocate, id: one.id.rawValue, json: RelocateBody(directory: OwnProgram.absolute(directory)),
            as: ListedDownload.self)
        if json {
            say(moved)
        } else {
            say(("moved to: \(moved.status.path ?? moved.directory ?? directory)" as Reason).shown)
        }
        return .done
    }
}

extension ActionCount {
    fileprivate var byID: [DownloadID: DownloadError] {
        Dictionary((failures ?? []).map { (DownloadID(rawValue: $0.id), $0.error) }) { first, _ in first }
    }
}
