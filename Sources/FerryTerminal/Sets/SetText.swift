package import Ferry
import FerryCore
import Synchronization

/// The lines in which `ferry sync` reports its outcome.
package enum SyncText {
    private static let mostPaths = 20

    /// Returns a line for each pattern that matches no file of the source.
    package static func lines(unused patterns: [String]) -> [String] {
        patterns.map { pattern in ("no listed file matches the pattern \(pattern)" as Reason).shown }
    }

    /// Returns a line for each path of a directory that is neither a file nor a directory.
    package static func lines(skipped: [SkippedFile], isVerbose: Bool) -> [String] {
        let most = isVerbose ? skipped.count : mostPaths
        let lines = skipped.prefix(most).map { file in
            let path = file.path
            let text: Reason =
                switch file.kind {
                case .symbolicLink: "left out: \(path): a symbolic link, which is not followed"
                case .special: "left out: \(path): neither a file nor a directory"
                }
            return text.shown
        }
        return lines + (skipped.count > most ? [("and \(skipped.count - most) more" as Reason).shown] : [])
    }

    /// Returns a line for each incomplete file. Only the line of a file that was never requested has a suggestion: for a failed
    /// file, the suggestion was printed at the failure.
    package static func lines(incomplete report: SyncReport, isVerbose: Bool) -> [String] {
        var said: Set<ErrorPhrase.Key> = []
        return report.incomplete.prefix(isVerbose ? .max : mostPaths).map { file in
            var words = ""
            if let error = file.error.map({ SetAdvice.advised($0) }) {
                let isUnasked = [.changedHere, .thereAlready, .inTheWay].contains(error.phrase?.key)
                let isNews = isUnasked && error.suggestionPhrase.map { said.insert($0.key).inserted } == true
                words = ErrorText.line(error, name: "", isBrief: !isNews)
            }
            let text: Reason = "incomplete: \(file.path): \(words)"
            return text.shown
        }
    }

    /// - Parameters:
    ///   - backup: The directory of the deleted files; `nil` if they are not kept.
    ///   - isOfDirectory: Whether the files are uploaded from a directory instead of downloaded. Default false.
    ///   - deletes: Whether files that are no longer listed were to be deleted. Default false.
    package static func lines(
        _ report: SyncReport, keptIn backup: String? = nil, isOfDirectory: Bool = false, deletes: Bool = false,
        isVerbose: Bool
    ) -> [String] {
        var lines: [String] = []
        let listed = listed(report.listedCount)
        let counts: Reason =
            isOfDirectory
            ? "\(listed): \(report.unchangedCount) unchanged, \(report.fetchedCount) stored (\(ByteText.size(report.storedBytes))), \(report.incomplete.count) incomplete"
            : "\(listed): \(report.unchangedCount) unchanged, \(report.fetchedCount) fetched (\(ByteText.size(report.receivedBytes))), \(report.incomplete.count) incomplete"
        for path in report.deleted.prefix(isVerbose ? .max : mostPaths) {
            let text: Reason =
                if let backup {
                    "moved to \(Paths.join(backup, path)), because the source no longer lists it: \(path)"
                } else {
                    "deleted, because the source no longer lists it: \(path)"
                }
            lines.append(text.shown)
        }
        // The other reasons, an incomplete list or too many deletions, are in `report.problems`.
        let isOther = deletes && report.problems.isEmpty
        for path in report.gone.prefix(isVerbose ? .max : mostPaths) {
            let text: Reason =
                isOther
                ? "kept here although not listed, because it is from another source or was changed here: \(path)"
                : "no longer listed by the source, kept here: \(path)"
            lines.append(text.shown)
        }
        for file in report.renamed.prefix(isVerbose ? .max : mostPaths) {
            lines.append(("\(file.path) is the local name of \(file.listedPath)" as Reason).shown)
        }
        let left =
            max(0, report.renamed.count - mostPaths) + max(0, report.gone.count - mostPaths)
            + max(0, report.deleted.count - mostPaths)
        if left > 0, !isVerbose { lines.append(("and \(left) more" as Reason).shown) }
        lines.append(counts.shown)
        return lines
    }

    /// The number of files that the source lists.
    static func listed(_ count: Int) -> Reason { count == 1 ? "1 file listed" : "\(count) files listed" }
}

/// The lines of `ferry sync --dry-run`.
package enum PreviewText {
    /// Returns the line of one file.
    ///
    /// - Parameter isOfDirectory: Whether the files are uploaded from a directory instead of downloaded. Default false.
    package static func line(_ file: PreviewedFile, isOfDirectory: Bool = false) -> String {
        let name = file.path + (file.totalBytes.map { " (\(ByteText.size($0)))" } ?? "")
        let text: Reason =
            switch (file.action, file.cause) {
            case (.fetch, .changed) where isOfDirectory: "store: \(name): it has another size"
            case (.fetch, .replaced) where isOfDirectory:
                "store: \(name): it replaces an object not from the set"
            case (.fetch, _) where isOfDirectory: "store: \(name): there is no such object"
            case (.check, .unproven) where isOfDirectory:
                "check: \(name): its date proves nothing, and its bytes are compared"
            case (.keep, _) where isOfDirectory: "keep: \(name): it has the size and date that it had before"
            case (.fetch, .changed): "fetch: \(name): the list has another size or digest"
            case (.fetch, .replaced): "fetch: \(name): it replaces a file not from the set"
            case (.fetch, _): "fetch: \(name): it is missing here"
            case (.check, .unrecorded): "check: \(name): it is there without a record, and is compared"
            case (.check, _): "check: \(name): the server is asked whether it has changed"
            case (.keep, .listed): "keep: \(name): the list has the date and size that it had before"
            case (.keep, _): "keep: \(name): the list proves that it is current"
            case (.leave, .changedHere):
                "leave: \(name): it was synced, then changed here; --on-conflict overwrite replaces it"
            case (.leave, .gone): "leave: \(name): the source no longer lists it"
            case (.leave, _): "leave: \(name): it is not from the set, and blocks a file that is"
            case (.delete, _): "delete: \(name): the source no longer lists it"
            }
        return text.local
    }

    /// Returns the line for all files.
    package static func summary(_ preview: SyncPreview) -> String {
        let (known, unknown) = (ByteText.size(preview.fetchedBytes), preview.unknownSizes)
        let fetched = preview.count(.fetch)
        let size: Reason =
            unknown == 0 ? .words(known) : unknown < fetched ? "at least \(known)" : "\(unknown) of unknown size"
        let gone = preview.files.count { $0.cause == .gone }
        let others = preview.files.count { $0.cause == .foreign || $0.cause == .changedHere }
        let listed = SyncText.listed(preview.files.count - gone)
        let text: Reason =
            preview.isOfDirectory
            ? "\(listed): \(fetched) to store (\(size)), \(preview.count(.check)) to compare, \(preview.count(.keep)) unchanged, \(others) in the way, \(preview.count(.delete)) to delete"
            : "\(listed): \(fetched) to fetch (\(size)), \(preview.count(.check)) to check, \(preview.count(.keep)) unchanged, \(others) in the way, \(preview.count(.delete)) to delete"
        return text.shown
    }
}

/// The line of `ferry verify` for one file.
package enum VerifyText {
    package static func line(_ file: VerifiedFile) -> String {
        let total = file.record?.totalBytes ?? 0
        let text: Reason =
            switch file.state {
            case .intact: "intact: \(file.path)"
            case .damaged:
                "damaged: \(file.path): \(ByteText.size(file.damagedBytes)) of \(ByteText.size(total)) are in pieces that differ"
            case .changed:
                "changed: \(file.path): \(ByteText.size(file.damagedBytes)) of \(ByteText.size(total)) are in pieces that differ, and it was written after it was downloaded"
            case .missing: "missing: \(file.path)"
            case .extra: "extra: \(file.path): it is not in the set"
            case .unknown: "unknown: \(file.path): there is no record of its digest"
            case .unreadable(let error): "unreadable: \(file.path): \(error.reason)"
            }
        return text.local
    }
}

/// The counts of a verification, and the files that are not intact.
final class VerifySum: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var others: [VerifiedFile] = []
        var users: Set<UInt32> = []
    }
    private let state = Mutex(State())

    func add(_ file: VerifiedFile) {
        state.withLock { state in
            state.counts[file.state.word, default: 0] += 1
            if !file.isIntact, file.state != .extra { state.others.append(file) }
            if let user = file.recordedBy { state.users.insert(user) }
        }
    }

    /// Returns the files that are not intact and were not returned before.
    func takeOthers() -> [VerifiedFile] {
        state.withLock { state in
            defer { state.others = [] }
            return state.others
        }
    }

    /// Returns the other users that recorded digests of the files, sorted, and forgets them.
    func takeUsers() -> [UInt32] {
        state.withLock { state in
            defer { state.users = [] }
            return state.users.sorted()
        }
    }

    var text: String {
        let counts = state.withLock { $0.counts }
        let intact = counts["intact"] ?? 0
        let extra = counts["extra"] ?? 0
        // It is unknown whether a file without a record is intact.
        let unknown = counts["unknown"] ?? 0
        let others = counts.values.reduce(0, +) - intact - extra - unknown
        let text: Reason = intact == 1 ? "1 file intact, \(others) not" : "\(intact) files intact, \(others) not"
        let parts: [Reason?] = [
            text, unknown > 0 ? "\(unknown) without a record" : nil, extra > 0 ? "\(extra) more not in the set" : nil,
        ]
        return parts.compactMap { $0?.shown }.joined(separator: Language.current.text(of: (", ", "，")))
    }

    var codes: [ExitCode] {
        let counts = state.withLock { $0.counts }
        var codes: [ExitCode] = []
        if (counts["damaged"] ?? 0) + (counts["changed"] ?? 0) + (counts["missing"] ?? 0) > 0 {
            codes.append(.checksum)
        }
        if counts["unknown"] != nil { codes.append(.usage) }
        if counts["unreadable"] != nil { codes.append(.disk) }
        return codes
    }
}
