package import SystemPackage

/// A file that its path led to when it was locked.
package struct LockedFile: Sendable {
    package let file: any File
    package let status: FileStatus
    /// `false` if the file system has no locks, so that other processes are not kept out.
    package let isLocked: Bool
}

extension FileSystem {
    /// Opens a file and locks it, and repeats this until the path leads to the locked file: the lock belongs to the
    /// open file, and the path may lead to another one between opening and locking.
    ///
    /// Throws ``FileError/Kind/exists`` of the operation `lock` if another open file holds the lock. Returns `nil` if
    /// the path is replaced again and again.
    package func lockNamed(
        _ path: FilePath, _ open: () throws(FileError) -> any File
    ) throws(FileError) -> LockedFile? {
        // Each failed attempt means that another process replaced the file; a hundred in a row are no coincidence.
        for _ in 0..<100 {
            let file = try open()
            do throws(FileError) {
                var isFree: Bool?
                do throws(FileError) { isFree = try file.tryLock() } catch  where error.kind == .unsupported {}
                let status = try file.status()
                if let named = try statusIfPresent(path), named.isSameFile(as: status) {
                    if isFree == false { throw FileError(.lock, path, kind: .exists) }
                    return LockedFile(file: file, status: status, isLocked: isFree == true)
                }
            } catch {
                file.close()
                throw error
            }
            file.close()
        }
        return nil
    }

    /// Returns whether the path leads to the open file.
    package func isNamed(_ path: FilePath, _ file: any File) throws(FileError) -> Bool {
        guard let named = try statusIfPresent(path) else { return false }
        return try named.isSameFile(as: file.status())
    }
}
