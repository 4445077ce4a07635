import Ferry
package import FerryAPI
import FerryCore

/// Formats downloads as a table. Below a download that has failed, or that waits for a time or the user, the reason is
/// shown on separate lines. Pure.
///
/// If space is short, columns are omitted in the order time left, speed, size, session, and the name is shortened in
/// the middle. Without a width nothing is shortened.
package struct DownloadTable: Sendable {
    /// The width of the terminal in columns; `nil` without a terminal.
    package var width: Int?
    /// Whether the table has a session column.
    package var showsSessions: Bool

    package init(width: Int?, showsSessions: Bool = false) {
        self.width = width
        self.showsSessions = showsSessions
    }

    private struct Column {
        var title: String
        var isRight = false
        /// The order in which columns are omitted if space is short; `nil` for columns that remain.
        var leaves: Int?
        var text: (ListedDownload) -> String
    }

    /// Returns the header and a line for each download; empty for no downloads.
    ///
    /// - Parameter identifiers: The prefix length that keeps the identifiers unique.
    package func lines(_ downloads: [ListedDownload], identifiers: ShortIdentifiers) -> [String] {
        guard !downloads.isEmpty else { return [] }
        var columns = Self.columns(identifiers, showsSessions: showsSessions)
        func widths() -> [Int] {
            columns.map { column in
                max(
                    DisplayWidth.columns(of: column.title),
                    downloads.map { DisplayWidth.columns(of: column.text($0)) }.max() ?? 0)
            }
        }
        var taken = widths()
        let leastName = 12
        if let width {
            while taken.dropLast().reduce(0, { $0 + $1 + 2 }) + min(leastName, taken.last ?? 0) > width,
                let leaving = columns.indices.filter({ columns[$0].leaves != nil }).min(by: {
                    columns[$0].leaves ?? 0 < columns[$1].leaves ?? 0
                })
            {
                columns.remove(at: leaving)
                taken.remove(at: leaving)
            }
        }
        let before = taken.dropLast().reduce(0) { $0 + $1 + 2 }
        let room = width.map { max(4, $0 - before) }
        func line(_ texts: [String]) -> String {
            var line = ""
            for index in columns.indices.dropLast() {
                let text = texts[index]
                line +=
                    (columns[index].isRight
                        ? DisplayWidth.padLeft(text, to: taken[index]) : DisplayWidth.pad(text, to: taken[index]))
                    + "  "
            }
            let name = texts.last ?? ""
            return line + (room.map { DisplayWidth.fit(name, to: $0) } ?? name)
        }
        var lines = [line(columns.map(\.title))]
        for download in downloads {
            lines.append(line(columns.map { $0.text(download) }))
            guard let reason = Self.reason(download) else { continue }
            lines += (width.map { DisplayWidth.wrap(reason, to: max(1, $0 - 2)) } ?? [reason]).map { "  " + $0 }
        }
        return lines
    }

    /// Returns the name of a file; for a file in the gateway's cache, whose name is a key, its label.
    private static func name(_ download: ListedDownload) -> String {
        guard isOfGateway(download), let label = download.label else { return download.status.name }
        return label
    }

    private static func isOfGateway(_ download: ListedDownload) -> Bool {
        download.session.hasSameBytes(as: FerryAPI.gatewaySession)
    }

    private static func isOfSet(_ download: ListedDownload) -> Bool {
        download.session.hasSameBytes(as: FerryAPI.setsSession)
    }

    /// Returns the reason for a failure or a wait, with the command that continues the download; `nil` for other states.
    static func reason(_ download: ListedDownload) -> String? {
        if case .failed(let error) = download.status.state { return failure(error, of: download) }
        let sentence = download.status.waitSentence { LocalTime.text($0) } ?? wait(download)
        let parts = [sentence, remedy(download)].compactMap { $0?.shown }
        return parts.isEmpty ? nil : parts.joined(separator: ErrorText.separator)
    }

    /// Returns the error of a failed download, the time of the next automatic attempt, and the user's remedy.
    ///
    /// - Parameter isBrief: Whether to omit a suggestion that is not a command of the daemon.
    static func failure(_ error: DownloadError, of download: ListedDownload, isBrief: Bool = true) -> String {
        let remedy = remedy(download)
        let line = ErrorText.line(error, name: "", isBrief: isBrief || remedy != nil)
        let next = download.status.retryAt.map { "next attempt at \(LocalTime.text($0))" as Reason }
        return ([line] + [next, remedy].compactMap { $0?.shown }).joined(separator: ErrorText.separator)
    }

    /// Returns the reason why a running download fetches nothing; `nil` for other downloads.
    static func wait(_ download: ListedDownload) -> Reason? {
        guard download.status.state == .downloading, let limit = download.status.progress.bottleneck,
            [.otherDownloads, .comparison].contains(limit.cause)
        else { return nil }
        return BottleneckText.sentence(limit)
    }

    /// Returns the command with which the user continues a download; `nil` if none is needed, or if its error suggests one.
    static func remedy(_ download: ListedDownload) -> Reason? {
        switch download.status.state {
        // The gateway itself determines what its downloads fetch.
        case .failed(let error)
        where isOfGateway(download)
            && ([.checksum, .refused].contains(error.code) || error.suggestionPhrase?.key == .giveLinkOfBegun):
            "it goes on when a client requests it from the gateway"
        case .waiting(.credentials) where isOfGateway(download), .waiting(.freshLink) where isOfGateway(download):
            "it goes on when a client requests it from the gateway"
        // The list of a set determines what its downloads fetch, and the sync records them.
        case .failed(let error) where isOfSet(download) && error.code == .checksum:
            "correct the list if it is wrong, then: \(resumingSets)"
        case .failed(let error)
        where isOfSet(download)
            && (error.code == .refused || error.suggestionPhrase?.key == .giveLinkOfBegun || error.isOnlyForAnotherRun):
            "to try it again: \(resumingSets)"
        case .waiting(.credentials) where isOfSet(download), .waiting(.freshLink) where isOfSet(download):
            "to try it again: \(resumingSets)"
        // The size of a listed download cannot be changed.
        case .failed(let error)
        where error.code == .checksum && ![.otherSize, .fileLargerThan].contains(error.phrase?.key):
            "to take it as it is: \(setting(download, "checksum=none")), then \(command("resume", download))"
        case .failed(let error) where error.suggestionPhrase?.key == .giveAuthority:
            "to trust its authority: \(setting(download, "ca-file=FILE")), then \(command("resume", download))"
        case .failed(let error) where error.suggestionPhrase?.key == .giveCertificate:
            "to trust it, if it is the server's own: \(setting(download, "ca-file=FILE")), then \(command("resume", download))"
        case .failed(let error) where error.suggestionPhrase?.key == .waitForOther:
            "wait for the other program, then: \(command("resume", download))"
        case .failed(let error) where error.suggestionPhrase?.key == .continueWithRest:
            "to download what is missing: \(command("resume", download))"
        case .failed(let error) where error.suggestionPhrase?.key == .giveLinkOfBegun:
            "continue with a link to that file: \(setting(download, "url=NEWURL")), then \(command("resume", download))"
        case .failed(let error) where error.code == .refused && error.answeredStatus == "403":
            "a login or another link may help: \(setting(download, "--user USER")), \(setting(download, "load-cookies=FILE")), \(setting(download, "url=NEWURL")); then \(command("resume", download))"
        case .failed(let error) where error.code == .refused && ["404", "410"].contains(error.answeredStatus):
            "continue with: \(setting(download, "url=NEWURL")), then \(command("resume", download))"
        case .failed(let error)
        where error.code == .tooLarge && [.fileTooLarge, .fileLargerThan].contains(error.phrase?.key):
            "to allow it: \(setting(download, "max-size=SIZE")), then \(command("resume", download))"
        case .failed(let error) where error.isOnlyForAnotherRun && download.status.retryAt == nil:
            "to try it again: \(command("resume", download))"
        case .waiting(.diskSpace) where download.status.waitError?.suggestionPhrase?.key == .minFree:
            "to keep nothing free: \(setting(download, "min-free=0"))"
        case .waiting(.credentials) where download.status.waitError?.phrase?.key == .asksForField:
            "continue with: \(setting(download, "--header 'Authorization: …'"))"
        case .waiting(.credentials) where download.status.waitError?.suggestionPhrase?.key == .giveTargetLink:
            "continue with: \(setting(download, "url=NEWURL"))"
        case .waiting(.credentials): "continue with: \(setting(download, "--user USER"))"
        case .waiting(.freshLink) where download.status.waitError?.phrase?.key == .pageInstead:
            "get past the page in a browser; it goes on when the network changes, or with: \(command("resume", download)); after a login there: \(setting(download, "load-cookies=FILE")); to take the page: \(setting(download, "accept-html=on"))"
        case .waiting(.freshLink) where download.status.waitError?.isOtherDocument == true:
            "continue with: \(setting(download, "url=NEWURL")); to take this: \(setting(download, "accept-html=on"))"
        case .waiting(.freshLink): "continue with: \(setting(download, "url=NEWURL"))"
        default: nil
        }
    }

    /// The command that syncs all sets of the daemon.
    private static let resumingSets = "ferry sets resume all"

    /// Returns the command `verb` for a download.
    static func command(_ verb: String, _ download: ListedDownload, _ words: String = "") -> String {
        let isOwn = download.session == FerryAPI.defaultSession
        let session = isOwn ? "" : " --session " + ShellWord.quote(download.session)
        return "ferry \(verb) \(ShellWord.quote(download.id.rawValue))\(words.isEmpty ? "" : " " + words)" + session
    }

    /// Returns the command that changes a download.
    static func setting(_ download: ListedDownload, _ words: String) -> String { command("set", download, words) }

    private static func columns(_ identifiers: ShortIdentifiers, showsSessions: Bool) -> [Column] {
        var columns: [Column] = [
            Column(title: "ID") { PrintableText.escape(identifiers.short($0.id.rawValue)) },
            Column(title: "STATE") { state($0) },
            Column(title: "DONE", isRight: true) { done($0.status) },
            Column(title: "SIZE", isRight: true, leaves: 2) { $0.status.progress.totalBytes.map(ByteText.size) ?? "?" },
            Column(title: "SPEED", isRight: true, leaves: 1) {
                $0.status.state == .downloading ? ByteText.rate($0.status.progress.bytesPerSecond) : "-"
            },
            Column(title: "LEFT", isRight: true, leaves: 0) {
                $0.status.state == .downloading ? ByteText.duration($0.status.progress.timeRemaining) : "-"
            },
            Column(title: "NAME") { PrintableText.escape(name($0)) },
        ]
        if showsSessions {
            let session = Column(title: "SESSION", leaves: 3) { PrintableText.escape($0.session) }
            columns.insert(session, at: columns.count - 1)
        }
        for index in columns.indices { columns[index].title = Reason.pattern(columns[index].title, []).local }
        return columns
    }

    /// Returns the completed share, or the bytes if the size is unknown. A cancelled download has no bytes left.
    private static func done(_ status: DownloadStatus) -> String {
        let progress = status.progress
        switch status.state {
        case .cancelled: return "-"
        case .completed: return ByteText.percent(progress.fraction, isComplete: true)
        default: break
        }
        guard progress.totalBytes == nil, progress.completedBytes > 0 else {
            // All bytes are here, for example of a file that does not match its checksum.
            let isWhole = status.state.kind == .failed && progress.completedBytes == progress.totalBytes
            return ByteText.percent(progress.fraction, isComplete: isWhole)
        }
        return ByteText.size(progress.completedBytes)
    }

    /// Returns the state, with the reason if the download waits or was paused by the system.
    static func state(_ download: ListedDownload) -> String {
        switch download.status.pauseReason {
        case .crashes?: ("paused: crashes" as Reason).local
        case nil: state(download.status.state)
        }
    }

    static func state(_ state: DownloadState) -> String {
        if Language.current == .simplifiedChinese { return state.text(in: .simplifiedChinese) }
        guard case .waiting(let reason) = state else { return state.kind.rawValue }
        return switch reason {
        case .slot: "queued"
        case .notBefore: "scheduled"
        case .diskSpace: "waiting: disk space"
        case .freshLink: "waiting: new link"
        case .credentials: "waiting: login"
        case .server, .network, .retry: "waiting: " + reason.kind.rawValue
        }
    }
}

/// The shortest prefix length that keeps identifiers unique. Pure.
package struct ShortIdentifiers: Sendable, Hashable {
    /// The number of characters to show.
    package let length: Int
    private static let least = 6

    /// - Parameter all: All identifiers to distinguish.
    package init(_ all: [String]) {
        let sorted = all.sorted()
        var length = Self.least
        // In sorted order, the longest common prefixes occur between neighbours.
        for (first, second) in zip(sorted, sorted.dropFirst()) where first != second {
            let common = zip(first, second).prefix { $0 == $1 }.count
            length = max(length, common + 1)
        }
        self.length = length
    }

    private init(length: Int) { self.length = length }

    /// Shortens nothing; for use when not all identifiers are known.
    package static let whole = ShortIdentifiers(length: .max)

    package func short(_ identifier: String) -> String { String(identifier.prefix(length)) }
}

extension DownloadError {
    /// The status of the response that refused the file; `nil` for other errors.
    fileprivate var answeredStatus: String? {
        guard let phrase, phrase.key == .serverAnswered else { return nil }
        return phrase.arguments.first?.text(in: .english)
    }

    /// Whether another attempt may succeed, and nothing else can be done.
    fileprivate var isOnlyForAnotherRun: Bool {
        guard case .transient = recovery else { return false }
        return suggestion == nil || suggestionPhrase?.key == .runAgain
    }

    /// Whether the server sent something other than the file that could be mistaken for it.
    fileprivate var isOtherDocument: Bool { [.documentInstead, .unprovenInstead].contains(phrase?.key) }
}
