package import SystemPackage

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

    /// Returns the owner and mode that a new file gets in a directory; `nil` if none can be created.
    private func sample(in directory: FilePath) -> Ownership.Sample? {
        if let file = try? openUnnamed(in: directory, mode: 0o600) {
            defer { file.close() }
            return (try? file.status()).map(Ownership.Sample.init)
        }
        let path = directory.appending(".ferry-\(UInt64.random(in: .min ... .max)).tmp")
        guard let file = try? create(path, mode: 0o600) else { return nil }
        defer {
            file.close()
            try? unlink(path)
        }
        return (try? file.status()).map(Ownership.Sample.init)
    }
}
