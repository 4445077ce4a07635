package import FerryCore
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A failed file operation: the operation, the path, and the reason.
package struct FileError: Error, Sendable, Hashable {
    /// The operation; its raw value follows "cannot" in messages.
    package enum Operation: String, Sendable, Hashable {
        case open, create, read, write, sync, truncate, lock, link, rename, remove, list, inspect
        case allocate = "reserve space for"
        case makeDirectory = "make the directory"
        case syncDirectory = "sync the directory"
        case measureSpace = "measure the free space of"
        case setMode = "set the permissions of"
        case setTime = "set the time of"
        case setAttribute = "set an attribute of"
        case getAttribute = "read an attribute of"
    }

    /// The reason, classified by how callers react to it.
    package enum Kind: Sendable, Hashable {
        case notFound, exists
        /// `ENOSPC` or `EDQUOT`.
        case noSpace
        /// `EFBIG`: larger than the file system or a limit allows.
        case tooLarge
        case readOnly, permission, isDirectory, notDirectory
        /// `EIO`: the data being written or synced must not be trusted.
        case io
        /// `EMFILE` or `ENFILE`.
        case outOfDescriptors
        /// The file system does not support the operation.
        case unsupported
        case crossDevice
        /// The file was being moved to this path, and the file found there could not be verified as the same file.
        case lostOnTheWay(to: FilePath)
        /// The file is shorter than the range to be read.
        case endedEarly
        /// The file failed the ownership check.
        case notOurs(Ownership.Flaw)
        /// This process has already closed the file.
        case closed
        /// The path is outside the directory that confines it, or passes through a symbolic link.
        case confined
        case other(Int32)
    }

    package let operation: Operation
    package let path: FilePath
    package let kind: Kind
    /// The system's error number; `nil` for errors that Ferry detected itself.
    package let errno: Int32?

    package init(_ operation: Operation, _ path: FilePath, errno: Int32) {
        self.operation = operation
        self.path = path
        self.errno = errno
        self.kind = Kind(errno: errno)
    }

    /// Creates an error that Ferry detected itself.
    package init(_ operation: Operation, _ path: FilePath, kind: Kind) {
        self.operation = operation
        self.path = path
        self.errno = nil
        self.kind = kind
    }

    /// Returns the same error for the path `file`, because an unnamed file has only the path of its directory.
    package func of(unnamed file: FilePath) -> FileError {
        errno.map { FileError(operation, file, errno: $0) } ?? FileError(operation, file, kind: kind)
    }

    /// The message in English, one line: `cannot write /x/y: No space left on device`.
    package var message: String { phrase.text(in: .english) }

    /// The localizable message; the system's own texts stay untranslated.
    package var phrase: ErrorPhrase {
        if case .lostOnTheWay(let there) = kind { return ErrorPhrase(.movedButUnproven, path.string, there.string) }
        let why: Reason =
            switch kind {
            case .unsupported where errno == nil: .phrase(ErrorPhrase(.unsupported))
            case .endedEarly: .phrase(ErrorPhrase(.fileEndsEarly))
            case .closed: .phrase(ErrorPhrase(.fileIsClosed))
            case .notOurs(let flaw): .phrase(flaw.phrase)
            case .confined: .phrase(ErrorPhrase(.leadsOut))
            default: .words(reason)
            }
        return ErrorPhrase(.fileFailed, ErrorPhrase(operation.phraseKey), path.string, why)
    }

    /// Only the reason, as the system words it.
    package var reason: String {
        if let errno { return Errno(rawValue: errno).description }
        return switch kind {
        case .notFound: Errno.noSuchFileOrDirectory.description
        case .exists: Errno.fileExists.description
        case .noSpace: Errno.noSpace.description
        case .tooLarge: Errno.fileTooLarge.description
        case .readOnly: Errno.readOnlyFileSystem.description
        case .permission: Errno.permissionDenied.description
        case .isDirectory: Errno.isDirectory.description
        case .notDirectory: Errno.notDirectory.description
        case .io: Errno.ioError.description
        case .outOfDescriptors: Errno.tooManyOpenFiles.description
        case .unsupported: ErrorPhrase(.unsupported).text(in: .english)
        case .crossDevice: Errno.improperLink.description
        case .endedEarly: ErrorPhrase(.fileEndsEarly).text(in: .english)
        case .closed: ErrorPhrase(.fileIsClosed).text(in: .english)
        case .notOurs(let flaw): flaw.phrase.text(in: .english)
        case .lostOnTheWay: phrase.text(in: .english)
        case .confined: ErrorPhrase(.leadsOut).text(in: .english)
        case .other(let number): Errno(rawValue: number).description
        }
    }
}

extension FileError: CustomStringConvertible {
    package var description: String { message }
}

extension FileError.Kind {
    /// Classifies an error number of the system.
    package init(errno number: Int32) {
        self =
            switch number {
            case ENOENT: .notFound
            case EEXIST, ENOTEMPTY: .exists
            case ENOSPC, EDQUOT: .noSpace
            case EFBIG: .tooLarge
            case EROFS: .readOnly
            case EACCES, EPERM: .permission
            case EISDIR: .isDirectory
            case ENOTDIR: .notDirectory
            case EIO: .io
            case EMFILE, ENFILE: .outOfDescriptors
            case EOPNOTSUPP, ENOTSUP, ENOSYS: .unsupported
            case EXDEV: .crossDevice
            default: .other(number)
            }
    }
}

extension Ownership.Flaw {
    /// The localizable predicate for a sentence about the file.
    package var phrase: ErrorPhrase {
        switch self {
        case .notRegular: ErrorPhrase(.otherKind)
        case .otherOwner(FileStatus.unknownOwner, _): ErrorPhrase(.unnamedUsersFile)
        case .otherOwner(let owner, user: 0): ErrorPhrase(.usersFile, "\(owner)")
        case .otherOwner(0, let user): ErrorPhrase(.rootsFile, "\(user)")
        case .otherOwner(let owner, let user): ErrorPhrase(.othersFile, "\(owner)", "\(user)")
        case .severalNames(let count): ErrorPhrase(.severalNames, "\(count)")
        case .writableByGroup(let group): ErrorPhrase(.writableByGroup, "\(group)")
        case .writableByOthers: ErrorPhrase(.writableByOthers)
        }
    }
}

extension FileError.Operation {
    /// The key of the operation's localized name.
    var phraseKey: ErrorPhrase.Key {
        switch self {
        case .open: .open
        case .create: .create
        case .read: .read
        case .write: .write
        case .sync: .sync
        case .truncate: .truncate
        case .lock: .lock
        case .link: .link
        case .rename: .rename
        case .remove: .remove
        case .list: .list
        case .allocate: .allocate
        case .inspect: .inspect
        case .makeDirectory: .makeDirectory
        case .syncDirectory: .syncDirectory
        case .measureSpace: .measureSpace
        case .setMode: .setMode
        case .setTime: .setTime
        case .setAttribute: .setAttribute
        case .getAttribute: .getAttribute
        }
    }
}
