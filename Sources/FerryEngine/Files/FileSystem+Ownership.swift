package import SystemPackage

extension FileSystem {
    /// Opens a file that is there and ours, by what the open file itself says; ``FileError/Kind/notOurs(_:)`` for others.
    ///
    /// Never through a symbolic link as the last component. Nobody can put another file in its place afterwards.
    package func openOurs(
        _ path: FilePath, _ access: FileAccess, for purpose: Ownership.Purpose = .download
    ) throws(FileError) -> any File {
        let file: any File
        do throws(FileError) {
            file = try open(path, access == .readOnly ? .readInPlace : access)
        } catch {
            // What cannot be opened, being a link, a directory or private, is not ours either: that says more.
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

    /// Why the file with this status, which lies at `path`, is not ours; `nil` when it is.
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

    /// Why what has this name is not ours; `nil` when nothing has it, or it is.
    package func flaw(at path: FilePath, for purpose: Ownership.Purpose = .download) throws(FileError) -> Ownership
        .Flaw?
    {
        guard let status = try statusIfPresent(path) else { return nil }
        return flaw(of: status, at: path, for: purpose)
    }

    /// What has this name, when it is ours.
    package func ours(
        at path: FilePath, for purpose: Ownership.Purpose = .download
    ) throws(FileError) -> FileStatus? {
        guard let status = try statusIfPresent(path), flaw(of: status, at: path, for: purpose) == nil else {
            return nil
        }
        return status
    }

    /// What a new file gets in a directory; `nil` where none can be made.
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
