import FerryCore

/// The suggestions of `ferry sync`, `ferry verify` and `ferry repair`, in place of suggestions that name options of
/// `ferry get`. Pure.
enum SetAdvice {
    /// Returns the error with a suggestion that fits these commands.
    ///
    /// - Parameter repairs: Whether the command is `ferry repair`, which never accepts a file other than the recorded one.
    static func advised(_ error: DownloadError, repairs: Bool = false) -> DownloadError {
        switch error.suggestionPhrase?.key {
        case .allowPrivate?: error.suggesting(ErrorPhrase(.leaveOutNoPrivate))
        case .waitForOther?: error.suggesting(ErrorPhrase(.waitForSync))
        case .giveFreshLink?, .signInAgain?, .freshLinkOrThis?: error.suggesting(ErrorPhrase(.newLinkInSet))
        case .orRestart? where repairs: error.suggesting(ErrorPhrase(.changedAtSource))
        case .giveChecksum?: error.suggesting(ErrorPhrase(.leaveStrictAway))
        case .giveOwnChecksum?: error.suggesting(ErrorPhrase(.listWithDigests))
        case .keptMarked?, .keptMarkedOf?:
            error.suggesting(ErrorPhrase(.keptInSet, error.suggestionPhrase?.arguments.first ?? .words("")))
        case nil where error.code == .conflict && error.phrase?.key == .thereAlready:
            error.suggesting(ErrorPhrase(.overwriteInSet))
        case nil where error.code == .conflict: error.suggesting(ErrorPhrase(.moveItAway))
        default: error
        }
    }
}
