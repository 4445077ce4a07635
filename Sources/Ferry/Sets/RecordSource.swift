import FerryCore
import FerryEngine
import SystemPackage

/// The file that a record was read from: whoever wrote it vouches for the record.
///
/// A record may be read, whosever it is. Files are written, replaced or deleted only by what one says that is this user's
/// own (``Ownership``), and that no server has sent.
struct RecordSource: Sendable, Hashable {
    var path: String
    /// The number of the owner, if that is another user.
    var user: UInt32?
    /// Why nothing is written by what the record says; `nil` if it may be.
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
    /// Whether only this user can put files into the directory: the rule of files, applied to it. Directories above one of
    /// which that is not true have no records for this user.
    func isOurs(directory: FilePath) -> Bool {
        guard var status = try? status(directory, followingLinks: true), status.kind == .directory else { return false }
        (status.kind, status.linkCount) = (.regular, 1)
        return flaw(of: status, at: directory.appending("x")) == nil
    }
}
