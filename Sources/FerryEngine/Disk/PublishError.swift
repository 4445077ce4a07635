package import FerryCore
package import SystemPackage

/// The reason why a file was not published. Except where noted, the part file is unchanged.
package enum PublishError: Error, Sendable {
    /// The part file's path is missing or leads to another file.
    case notIntact(FilePath)
    /// The part file does not have the expected length.
    case wrongLength(FilePath, expected: ByteCount, actual: ByteCount)
    /// The name is taken, and the rule is `fail` or `skip`.
    case exists(FilePath)
    /// The name belongs to a directory or another download's files, which must not be replaced.
    case blocked(FilePath)
    case noFreeName(FilePath)
    /// A system call failed. After a failed sync the part file's content must not be trusted.
    case file(FileError)
    /// The announcement failed; nothing was renamed.
    case announcing(any Error)
    /// The file has its final name, but the name may not survive a power failure, so the journal must stay.
    case unsyncedName(Published, FileError)

    package var message: String { phrase.text(in: .english) }

    /// The localizable message.
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
