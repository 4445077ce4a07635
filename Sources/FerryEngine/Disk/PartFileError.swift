package import FerryCore
package import SystemPackage

/// The reason why a part file cannot be created or opened.
package enum PartFileError: Error, Sendable, Hashable {
    case missing(FilePath)
    case exists(FilePath)
    /// Another process, or another download of this one, has locked the file.
    case locked(FilePath)
    /// The path kept leading to different files during the attempts to lock it.
    case replaced(FilePath)
    /// A directory, a pipe, or a symbolic link.
    case notAFile(FilePath)
    case file(FileError)

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
        case .locked(let path): ErrorPhrase(.inUse, path.string)
        case .replaced(let path): ErrorPhrase(.replaced, path.string)
        case .notAFile(let path): ErrorPhrase(.notRegular, path.string)
        case .file(let error): error.phrase
        }
    }
}

extension PartFileError: CustomStringConvertible {
    package var description: String { message }
}
