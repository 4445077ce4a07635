import FerryCore
import FerryEngine
import SystemPackage

/// The file that a record was read from. The user who wrote this file vouches for the record.
///
/// A record of any user may be read. Files are written, replaced or deleted only according to a record that belongs to this
/// user (``Ownership``) and that no server has sent.
struct RecordSource: Sendable, Hashable {
    var path: String
    /// The user ID of the owner, if that is another user.
    var user: UInt32?
    /// Why the record must not be used to write files; `nil` if it may be.
    var flaw: ErrorPhrase?

    /// - Parameter purpose: `content` for a record that is kept with the downloaded file itself.
    init(
        _ file: any File, at path: FilePath, for purpose: Ownership.Purpose = .download, fileSystem: any FileSystem
    ) throws(FileError) {
        let status = try file.status()
        self.path = path.string
        user = status.owner == fileSystem.user.user ? nil : status.owner
        if let flaw = fileSystem.flaw(of: status, at: path, for: purpose) {
            self.flaw = ErrorPhrase(.notOurs, path.string, flaw.phrase)
        } else if purpose != .content, SourceAttribute.read(file) != nil {
            flaw = ErrorPhrase(.downloadedRecord, path.string)
        }
    }
}

extension FileSystem {
    /// Whether only this user can create files in the directory, by the same rule as for files. If others can, records in the
    /// directories above it are not used either.
    func isOurs(directory: FilePath) -> Bool {
        guard var status = try? status(directory, followingLinks: true), status.kind == .directory else { return false }
        (status.kind, status.linkCount) = (.regular, 1)
        return flaw(of: status, at: directory.appending("x")) == nil
    }
}
