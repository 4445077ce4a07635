/// Responses that cannot be used, and what they end: their connection, a source, the partial content, or the download.
extension TransferMachine {
    /// Whether to restart at zero. Counts changes of the file; ends the download if changes are not permitted or too
    /// many.
    mutating func mayRestart(_ reason: Reason, isChange: Bool) -> Bool {
        if settings.isNewSource, !planner.written.isEmpty {
            end(
                DownloadError(
                    .conflict, ErrorPhrase(.otherFile, reason), suggestion: ErrorPhrase(.leftAsItIs),
                    recovery: .needsUser))
            return false
        }
        if settings.isStream, !planner.written.isEmpty {
            let (code, key): (DownloadError.Code, ErrorPhrase.Key) =
                isChange ? (.remoteChanged, .changedInStream) : (.notResumable, .streamBroke)
            end(DownloadError(code, ErrorPhrase(key, reason)))
            return false
        }
        if settings.rules.trust.failsOnChange {
            end(
                DownloadError(
                    isChange ? .remoteChanged : .unproven, ErrorPhrase(isChange ? .changed : .cannotGoOn, reason),
                    suggestion: ErrorPhrase(.orRestart)))
            return false
        }
        // An unproven restart is limited by the retry count instead, because refetched bytes are no progress.
        guard isChange else { return true }
        sources.spoiled.reset()
        retry.fileChanged()
        if retry.memory.changes > 3 {
            end(DownloadError(.remoteChanged, ErrorPhrase(.keepsChanging, reason), recovery: .needsUser))
            return false
        }
        return true
    }

    mutating func changed(_ reason: Reason) {
        guard mayRestart(reason, isChange: true) else { return }
        enter(.reopening(reason))
        for id in connections.keys { cut(id) }
    }

    mutating func deadLink(_ reason: Reason, _ status: Int, _ fetch: Fetch) -> HeadAction {
        if let action = retreat(fetch, reason) { return action }
        return dropOrEnd(
            fetch, reason, .deadLink(reason, status: status, holdsBytes: !planner.written.isEmpty))
    }

    /// The redirect target is dead: returns to the original URL, once per source.
    mutating func retreat(_ fetch: Fetch, _ reason: Reason) -> HeadAction? {
        guard !fetch.fromOriginal else { return nil }
        note(Reason(.originalLink, reason))
        sources[fetch.source].fromOriginal = true
        sources[fetch.source].alwaysOriginal = true
        return .drop
    }

    /// Drops a useless source, or ends the download if it was the last.
    mutating func dropOrEnd(_ fetch: Fetch, _ reason: Reason, _ error: DownloadError) -> HeadAction {
        guard sources.hasOther(than: fetch.source) else {
            end(sources.deadEnd ?? error)
            return .leave
        }
        if fetch.source == sources.primary { sources.deadEnd = error }
        drop(fetch.source, reason)
        return .drop
    }

    mutating func drop(_ source: Int, _ reason: Reason) {
        sources[source].trust = .dropped
        let name =
            settings.sourceNames.indices.contains(source) ? "\(source) (\(settings.sourceNames[source]))" : "\(source)"
        note(source == 0 ? Reason(.onWithMirror, reason) : Reason(.mirrorDropped, name, reason))
    }

    /// An unusable response while running: drops the mirror, or continues with one connection.
    mutating func stepBack(_ fetch: Fetch, _ reason: Reason) -> HeadAction {
        if fetch.source != sources.primary {
            drop(fetch.source, reason)
            return .drop
        }
        if !policy.isSingle { note(Reason(.onWithOne, reason)) }
        policy.limitToSingleConnection()
        return .leave
    }

    /// A response that is not of this file, and does not prove that there is another: its connection ends, as if the
    /// server had refused it, and the others go on. Without others the next opening decides.
    mutating func dismiss(
        _ reason: Reason, _ fetch: Fetch, _ id: ConnectionID, at now: Duration, random: Double
    ) -> HeadAction {
        if fetch.source != sources.primary { return stepBack(fetch, reason) }
        if others(than: id) > 0 { objected(reason, id, wish: nil, at: now, random: random) }
        return .leave
    }

    mutating func unusable(_ reason: Reason, _ fetch: Fetch, _ id: ConnectionID) -> HeadAction {
        connections[id]?.misfits += 1
        note(Reason(.askingAgain, reason))
        switch connections[id]?.misfits ?? 0 {
        case 1: return .drop
        case 2:
            file.asksWhole = true
            policy.limitToSingleConnection()
            return .drop
        default:
            connections[id]?.misfits = 0
            file.asksWhole = false
            return dropOrEnd(
                fetch, reason, DownloadError(.refused, ErrorPhrase(.unusableAnswers, reason)))
        }
    }
}

extension DownloadError {
    /// The error for a dead link: 401 requires credentials; otherwise a download with partial content needs a fresh
    /// link.
    package static func deadLink(_ reason: Reason, status: Int, holdsBytes: Bool) -> DownloadError {
        if status == 401 {
            return DownloadError(
                .credentials, ErrorPhrase(.asksForCredentials, reason), suggestion: ErrorPhrase(.giveCredentials),
                recovery: .needsUser)
        }
        if status < 300 {
            // A document in place of the file: a web page, or one in which a program reports an error.
            let isPage = reason == Reason(.pageInstead)
            return DownloadError(.freshLink, reason, recovery: .needsUser)
                .suggesting(ErrorPhrase(isPage ? .signInAgain : .giveFreshLink))
        }
        if holdsBytes {
            return DownloadError(
                .freshLink, ErrorPhrase(.deadLink, reason), suggestion: ErrorPhrase(.giveFreshLink),
                recovery: .needsUser)
        }
        return DownloadError(.refused, reason)
    }
}
