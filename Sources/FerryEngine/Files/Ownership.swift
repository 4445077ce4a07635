/// Whose a file is: the one rule by which a journal, a part file or a finished file that was found is believed, written to or
/// removed.
///
/// *Ours* is a regular file that the effective user owns, that has one name, and that nobody else can write to. A name
/// proves nothing: in a directory that several people write to, each of them may give any name to a file. What is not
/// ours is in the way, and another name is taken.
///
/// **The group.** A file that its group can write to is ours when that group is the effective one: only its owner can
/// have opened it, with a umask of 002, and where each user has a group of their own, as on Debian and Fedora, nobody else
/// is in it. Whoever shares the primary group with others and has such a umask has let them write to every file anyway.
/// A directory's group counts only where the user says so (``FileUser/sharesWithGroup``) and the directory is that group's.
///
/// **Other users.** A file that everybody can write to is never ours, whatever the umask: its content proves nothing.
///
/// **File systems with one owner for all files** (vfat, CIFS, some NFS): there ours is what a file gets that is made there
/// now (``Sample``). Elsewhere a new file has the effective user and mode 0600, and the sample changes nothing.
package struct Ownership: Sendable, Hashable {
    /// What a file gets that this process makes with mode 0600.
    package struct Sample: Sendable, Hashable {
        package var owner: UInt32
        /// Write permissions of others that the file system adds to every file.
        package var writers: UInt16

        package init(owner: UInt32, writers: UInt16 = 0) {
            self.owner = owner
            self.writers = writers & Ownership.foreignWriters
        }

        package init(_ status: FileStatus) { self.init(owner: status.owner, writers: status.mode) }
    }

    /// What a file is to be ours for.
    package enum Purpose: Sendable, Hashable, CaseIterable {
        /// It is believed and written to: part files and journals.
        case download
        /// Its content is believed, and nothing is written to it: finished files, which their user may have linked.
        case content
        /// Its name is removed; whoever can write to it changes nothing about that.
        case removal
    }

    /// Why a file is not ours.
    package enum Flaw: Sendable, Hashable {
        case notRegular
        case otherOwner(UInt32, user: UInt32)
        case severalNames(UInt64)
        case writableByGroup(UInt32)
        case writableByOthers

        /// A file system with one owner and one mode for all files may be the cause.
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
    /// The directory that the file lies in; asked only where the user shares with its group.
    package var directory: FileStatus?

    package init(_ user: FileUser, sample: Sample? = nil, directory: FileStatus? = nil) {
        self.user = user
        self.sample = sample ?? Sample(owner: user.user)
        self.directory = directory
    }

    /// What keeps this file from being ours; `nil` when it is.
    package func flaw(of file: FileStatus, for purpose: Purpose = .download) -> Flaw? {
        guard file.kind == .regular else { return .notRegular }
        guard file.owner == sample.owner else { return .otherOwner(file.owner, user: user.user) }
        if purpose == .removal { return nil }
        // An unnamed file has no name yet.
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

/// Who this process is to the file system.
package struct FileUser: Sendable, Hashable {
    /// The effective user.
    package var user: UInt32
    /// The effective group.
    package var group: UInt32
    /// Files that the group of their directory can write to are ours too. Default false.
    package var sharesWithGroup: Bool

    package init(user: UInt32, group: UInt32, sharesWithGroup: Bool = false) {
        self.user = user
        self.group = group
        self.sharesWithGroup = sharesWithGroup
    }
}
