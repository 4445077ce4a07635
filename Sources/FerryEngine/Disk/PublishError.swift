package import FerryCore
package import SystemPackage

/// Why a file could not be published. Unless said otherwise it still is the part file that it was.
package enum PublishError: Error, Sendable {
    /// The part file's path leads elsewhere, or nowhere (B6).
    case notIntact(FilePath)
    /// It does not have the length of the whole.
    case wrongLength(FilePath, expected: ByteCount, actual: ByteCount)
    /// The name is taken, and the rule is to fail or to skip.
    case exists(FilePath)
    /// What has the name must not be replaced: a directory, or part of another download.
    case blocked(FilePath)
    case noFreeName(FilePath)
    /// A call failed. If it was a sync, what is in the part file is not to be believed.
    case file(FileError)
    /// The announcement failed; nothing was renamed.
    case announcing(any Error)
    /// It has its final name, but the name may not survive a power cut: the journal must stay.
    case unsyncedName(Published, FileError)

    package var message: String { phrase.text(in: .english) }

    /// The same, known in every language.
    package var phrase: ErrorPhrase {
        switch self {
        case .notIntact(let path): ErrorPhrase(.removedOrReplaced, path.string)
        case .wrongLength(let path, let expected, let actual):
            ErrorPhrase(.wrongLength, path.string, "\(actual)", "\(expected)")
        case .exists(let path): ErrorPhrase(.alreadyThere, path.string)
        case .blocked(let path): ErrorPhrase(.mustNotReplace, path.string)
        case .noFreeName(let path): ErrorPhrase(.noNameLike, path.string)
        case .file(let error): error.phrase
        case .announcing(let error): ErrorPhrase(.unwritableJournal, "\(error)")
        case .unsyncedName(let published, let error): ErrorPhrase(.completeBut, published.path.string, error.phrase)
        }
    }
}

extension PublishError: CustomStringConvertible {
    package var description: String { message }
}
