import FerryCore
package import SystemPackage

/// The ownership check: the only rule that decides whether a journal, part file or finished file is trusted, written to or
/// removed.
///
/// A file is *ours* if it is a regular file, the effective user owns it, it has one name, and no other user can write to it. A
/// name is not a proof, because any user with write access to the directory can create it. A file that fails the check is not
/// touched, and another name is used.
///
/// **The group.** A group-writable file passes if its group is the effective group: only its owner can have made it writable,
/// with a umask of 002. Where each user has a private group, as on Debian and Fedora, that group has no other member. A user
/// with a shared primary group and such a umask has granted write access to every file anyway. With
/// ``FileUser/sharesWithGroup``, a group-writable file also passes if its directory has the same group and is writable for it.
///
/// **Other users.** A world-writable file never passes, with any umask, because any user may have changed its content.
///
/// **File systems with one owner for all files** (vfat, CIFS, some NFS): a file passes if it has the owner and mode
/// that a new file gets (``Sample``). On other file systems a new file has the effective user and mode 0600, and the
/// sample changes nothing.
package struct Ownership: Sendable, Hashable {
    /// The owner and mode that a file system gives to a new file of mode 0600.
    package struct Sample: Sendable, Hashable {
        package var owner: UInt32
        /// The write permissions for group and others that the file system adds to every file.
        package var writers: UInt16

        package init(owner: UInt32, writers: UInt16 = 0) {
            self.owner = owner
            self.writers = writers & Ownership.foreignWriters
        }

        package init(_ status: FileStatus) { self.init(owner: status.owner, writers: status.mode) }
    }

    /// The intended use of the file.
    package enum Purpose: Sendable, Hashable, CaseIterable {
        /// Trust and write: part files and journals.
        case download
        /// Trust the content without writing: finished files, which users may have linked.
        case content
        /// Remove the name; other writers do not matter.
        case removal
    }

    /// The reason why a file fails the check.
    package enum Flaw: Sendable, Hashable {
        case notRegular
        case otherOwner(UInt32, user: UInt32)
        case severalNames(UInt64)
        case writableByGroup(UInt32)
        case writableByOthers

        /// Whether a file system with one owner and mode for all files can cause the flaw.
        var dependsOnFileSystem: Bool {
            switch self {
            case .otherOwner, .writableByGroup, .writableByOthers: true
            case .notRegular, .severalNames: false
            }
        }
    }

    static let groupWriter: UInt16 = 0o020
    static let otherWriter: UInt16 = 0o002
    static let foreignWriters = groupWriter | otherWriter

    package var user: FileUser
    package var sample: Sample
    /// The file's directory; needed only with ``FileUser/sharesWithGroup``.
    package var directory: FileStatus?

    package init(_ user: FileUser, sample: Sample? = nil, directory: FileStatus? = nil) {
        self.user = user
        self.sample = sample ?? Sample(owner: user.user)
        self.directory = directory
    }

    /// Returns the reason why the file fails the check; `nil` if it passes.
    package func flaw(of file: FileStatus, for purpose: Purpose = .download) -> Flaw? {
        guard file.kind == .regular else { return .notRegular }
        guard file.owner == sample.owner else { return .otherOwner(file.owner, user: user.user) }
        if purpose == .removal { return nil }
        // An unnamed file has no links yet.
        if purpose == .download, file.linkCount > 1 { return .severalNames(file.linkCount) }
        let writers = file.mode & Self.foreignWriters & ~sample.writers
        if writers & Self.otherWriter != 0 { return .writableByOthers }
        if writers & Self.groupWriter != 0, file.group != user.group, !isShared(file) {
            return .writableByGroup(file.group)
        }
        return nil
    }

    private func isShared(_ file: FileStatus) -> Bool {
        guard user.sharesWithGroup, let directory else { return false }
        return directory.kind == .directory && directory.group == file.group
            && directory.mode & Self.groupWriter != 0
    }
}

/// The user and group of this process, as the file system sees them.
package struct FileUser: Sendable, Hashable {
    /// The effective user.
    package var user: UInt32
    /// The effective group.
    package var group: UInt32
    /// Whether a file also passes if the group of its directory can write to it. Default false.
    package var sharesWithGroup: Bool

    package init(user: UInt32, group: UInt32, sharesWithGroup: Bool = false) {
        self.user = user
        self.group = group
        self.sharesWithGroup = sharesWithGroup
    }
}

extension FileSystem {
    /// Opens an existing file and checks the ownership of the open file; throws ``FileError/Kind/notOurs(_:)`` if it
    /// fails.
    ///
    /// Never follows a symbolic link as the last component. The check holds for the open file even if its path is
    /// replaced.
    package func openOurs(
        _ path: FilePath, _ access: FileAccess, for purpose: Ownership.Purpose = .download
    ) throws(FileError) -> any File {
        let file: any File
        do throws(FileError) {
            file = try open(path, access == .readOnly ? .readInPlace : access)
        } catch {
            // A link, a directory or a private file cannot be opened; its ownership flaw is the more helpful error.
            guard error.kind != .notFound, let status = try? statusIfPresent(path),
                let flaw = flaw(of: status, at: path, for: purpose)
            else { throw error }
            throw FileError(.open, path, kind: .notOurs(flaw))
        }
        do throws(FileError) {
            if let flaw = flaw(of: try file.status(), at: path, for: purpose) {
                throw FileError(.open, path, kind: .notOurs(flaw))
            }
            return file
        } catch {
            file.close()
            throw error
        }
    }

    /// Opens a regular file of any user for reading, for bytes that are compared and not trusted.
    ///
    /// Never follows a symbolic link as the last component.
    package func openAnyones(_ path: FilePath) throws(FileError) -> any File {
        let file = try open(path, .readInPlace)
        do throws(FileError) {
            guard try file.status().kind == .regular else { throw FileError(.open, path, kind: .notOurs(.notRegular)) }
            return file
        } catch {
            file.close()
            throw error
        }
    }

    /// Returns why the file with this status at `path` fails the ownership check; `nil` if it passes.
    package func flaw(
        of status: FileStatus, at path: FilePath, for purpose: Ownership.Purpose = .download
    ) -> Ownership.Flaw? {
        let user = user
        let flaw = Ownership(user).flaw(of: status, for: purpose)
        guard let flaw, flaw.dependsOnFileSystem else { return flaw }
        let directory = path.removingLastComponent()
        let place: FilePath = directory.isEmpty ? "." : directory
        let ownership = Ownership(
            user, sample: sample(in: place),
            directory: user.sharesWithGroup ? try? self.status(place, followingLinks: true) : nil)
        return ownership.flaw(of: status, for: purpose)
    }

    /// Returns why the file at `path` fails the ownership check; `nil` if it passes or does not exist.
    package func flaw(at path: FilePath, for purpose: Ownership.Purpose = .download) throws(FileError) -> Ownership
        .Flaw?
    {
        guard let status = try statusIfPresent(path) else { return nil }
        return flaw(of: status, at: path, for: purpose)
    }

    /// Returns the status of the file at `path` if it exists and passes the ownership check.
    package func ours(
        at path: FilePath, for purpose: Ownership.Purpose = .download
    ) throws(FileError) -> FileStatus? {
        guard let status = try statusIfPresent(path), flaw(of: status, at: path, for: purpose) == nil else {
            return nil
        }
        return status
    }

    /// Returns the owner and mode that a new file gets in a directory; `nil` if no file can be created.
    private func sample(in directory: FilePath) -> Ownership.Sample? {
        if let file = try? openUnnamed(in: directory, mode: 0o600) {
            defer { file.close() }
            return (try? file.status()).map(Ownership.Sample.init)
        }
        let path = directory.appending(ReservedName.sample.text + "\(UInt64.random(in: .min ... .max)).tmp")
        guard let file = try? create(path, mode: 0o600) else { return nil }
        defer {
            file.close()
            try? unlink(path)
        }
        return (try? file.status()).map(Ownership.Sample.init)
    }
}
