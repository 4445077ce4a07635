package import FerryCore
package import SystemPackage

/// The reason why a journal cannot be read or written.
package enum JournalError: Error, Sendable, Hashable {
    case missing(FilePath)
    case exists(FilePath)
    case empty(FilePath)
    /// A journal without a complete record, or with a record that violates the rules.
    case torn(FilePath)
    /// Not a journal of Ferry.
    case foreign(FilePath)
    /// Written by a newer Ferry, in this version of the format.
    case newerVersion(FilePath, Int)
    /// Another process, or another download of this one, has locked the journal.
    case locked(FilePath)
    /// Larger than the maximum size of a journal.
    case tooLarge(FilePath)
    /// The record to be written violates the rules; nothing was written.
    case invalid(FilePath, String)
    case file(FileError)

    /// Whether the error is a temporary failure of the disk or this process, and not a fault of the journal.
    ///
    /// A missing permission, or a path that is not a file, is not such a failure: the journal then belongs to another user.
    package var mayPass: Bool {
        guard case .file(let error) = self else { return false }
        return switch error.kind {
        case .io, .outOfDescriptors, .noSpace, .tooLarge: true
        default: false
        }
    }

    /// The failed ownership check; `nil` for all other reasons.
    package var flaw: Ownership.Flaw? {
        if case .file(let error) = self, case .notOurs(let flaw) = error.kind { flaw } else { nil }
    }

    /// The message in English, one line: what failed, on which path.
    package var message: String { phrase.text(in: .english) }

    /// The localizable message.
    package var phrase: ErrorPhrase {
        switch self {
        case .missing(let path): ErrorPhrase(.missing, path.string)
        case .exists(let path): ErrorPhrase(.alreadyThere, path.string)
        case .empty(let path): ErrorPhrase(.emptyFile, path.string)
        case .torn(let path): ErrorPhrase(.damaged, path.string)
        case .foreign(let path): ErrorPhrase(.notAJournal, path.string)
        case .newerVersion(let path, let version): ErrorPhrase(.newerJournal, path.string, "\(version)")
        // The user knows the final file, not the journal.
        case .locked(let path): ErrorPhrase(.inUse, (DownloadPaths(of: path)?.final ?? path).string)
        case .tooLarge(let path): ErrorPhrase(.largeJournal, path.string)
        case .invalid(let path, let reason): ErrorPhrase(.unwritable, path.string, reason)
        case .file(let error): error.phrase
        }
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String { message }
}
