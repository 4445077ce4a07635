package import FerryCore
package import SystemPackage

/// Why a journal cannot be read or written (B7).
package enum JournalError: Error, Sendable, Hashable {
    case missing(FilePath)
    /// Something has the name.
    case exists(FilePath)
    /// It has no bytes.
    case empty(FilePath)
    /// A journal, but none of its records is whole, or what it says cannot be.
    case torn(FilePath)
    /// Not a journal of ours.
    case foreign(FilePath)
    /// Written by a newer Ferry, in this version of the format.
    case newerVersion(FilePath, Int)
    /// Another process, or another download of this one, has it.
    case locked(FilePath)
    /// Larger than a journal may become.
    case tooLarge(FilePath)
    /// The record that was to be written breaks the rules; nothing was written.
    case invalid(FilePath, String)
    case file(FileError)

    /// Whether it says nothing about the journal, but that the disk or this process fails just now.
    ///
    /// Not so without permission, or where the name is no file: then it is somebody else's.
    package var mayPass: Bool {
        guard case .file(let error) = self else { return false }
        return switch error.kind {
        case .io, .outOfDescriptors, .noSpace, .tooLarge: true
        default: false
        }
    }

    /// Why it is not ours; `nil` for all other reasons.
    package var flaw: Ownership.Flaw? {
        if case .file(let error) = self, case .notOurs(let flaw) = error.kind { flaw } else { nil }
    }

    /// One line: what failed, on which path.
    package var message: String { phrase.text(in: .english) }

    /// The same, known in every language.
    package var phrase: ErrorPhrase {
        switch self {
        case .missing(let path): ErrorPhrase(.missing, path.string)
        case .exists(let path): ErrorPhrase(.alreadyThere, path.string)
        case .empty(let path): ErrorPhrase(.emptyFile, path.string)
        case .torn(let path): ErrorPhrase(.damaged, path.string)
        case .foreign(let path): ErrorPhrase(.notAJournal, path.string)
        case .newerVersion(let path, let version): ErrorPhrase(.newerJournal, path.string, "\(version)")
        case .locked(let path): ErrorPhrase(.inUse, path.string)
        case .tooLarge(let path): ErrorPhrase(.largeJournal, path.string)
        case .invalid(let path, let reason): ErrorPhrase(.unwritable, path.string, reason)
        case .file(let error): error.phrase
        }
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String { message }
}
