package import FerryCore
package import SystemPackage

/// A file that is read during or after its download. It has a descriptor of its own, so that it stays readable when it is renamed.
///
/// While it is open, no other file gets its inode number, so equal device and inode numbers mean the same file.
package final class ContentFile: Sendable {
    private let file: any File
    private let files: FileIO
    package let status: FileStatus

    private init(_ file: any File, _ status: FileStatus, _ files: FileIO) {
        self.file = file
        self.status = status
        self.files = files
    }

    deinit { files.close(file) }

    /// Opens a file that passes the ownership check.
    package static func open(_ path: FilePath, _ files: FileIO, within root: String? = nil) async throws(DownloadError)
        -> ContentFile
    {
        let files = files.confined(to: root)
        let opened: Result<ContentFile, FileError> = await files.run { disk in
            do throws(FileError) {
                let file = try disk.fileSystem.openOurs(path, .readOnly, for: .content)
                do throws(FileError) { return .success(ContentFile(file, try file.status(), files)) } catch {
                    file.close()
                    throw error
                }
            } catch { return .failure(error) }
        }
        do throws(FileError) { return try opened.get() } catch { throw DownloadError(error) }
    }

    /// Returns exactly the bytes of `range`.
    package func read(_ range: Range<ByteCount>) async throws(DownloadError) -> [UInt8] {
        do throws(FileError) {
            return try await files.run { [file] _ throws(FileError) in try file.read(range) }
        } catch { throw DownloadError(error) }
    }

    /// Whether the file is the published one, and unchanged since its publication.
    package func isUnchanged(since published: PublishedFile) -> Bool {
        status.device == published.device && status.inode == published.inode && status.length == published.length
            && status.modified == published.modified
    }

    /// A strong validator of the file, for use if its server sent none. No two files ever created have the same one; `nil` if the
    /// creation time is unknown.
    package var entityTag: String? {
        guard let created = status.created else { return nil }
        let parts = [status.device, status.inode, UInt64(bitPattern: created.seconds), UInt64(created.nanoseconds)]
        return "\"ferry-\(parts.map { String($0, radix: 36) }.joined(separator: "-"))\""
    }
}
