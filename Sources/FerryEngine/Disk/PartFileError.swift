package import FerryCore
package import SystemPackage

/// Why a part file cannot be had.
package enum PartFileError: Error, Sendable, Hashable {
    /// Nothing has that name.
    case missing(FilePath)
    /// Something has that name.
    case exists(FilePath)
    /// Another process, or another download of this one, has it.
    case locked(FilePath)
    /// The name led elsewhere again and again while we took it.
    case replaced(FilePath)
    /// A directory, a pipe, a symbolic link.
    case notAFile(FilePath)
    case file(FileError)

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
