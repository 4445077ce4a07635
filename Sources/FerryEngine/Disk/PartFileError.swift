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

    /// One line: what failed, on which path.
    package var message: String {
        switch self {
        case .missing(let path): "\(path.string) is not there"
        case .exists(let path): "\(path.string) is already there"
        case .locked(let path): "\(path.string) is in use by another download"
        case .replaced(let path): "\(path.string) was replaced by another program"
        case .notAFile(let path): "\(path.string) is not a regular file"
        case .file(let error): error.message
        }
    }
}

extension PartFileError: CustomStringConvertible {
    package var description: String { message }
}
