package import FerryCore
import SystemPackage

/// Moves a finished file to another directory: renamed, or copied and compared where that is another file system.
///
///     begin: where it is another file system, a copy without a name    ``begin(_:to:copying:)``
///     the caller announces a name                                      ``candidate(_:)``
///     the name is given, never replacing                               ``name(_:_:)``
///     the caller writes down where it is now; the old one goes         ``PublishedFile/delete(_:ifUnchangedSince:fileSystem:)``
///
/// Invariants: a whole file has the old name or the new one at every moment; nothing is replaced. A crash leaves no copy
/// that is not whole, save where the file system has no unnamed files: there a `NAME.part` may be left.
package struct FileMover: Sendable {
    private let fileSystem: any FileSystem
    private let floor: ByteCount
    private let goesOn: @Sendable () -> Bool

    /// As ``PartialDownloadMover/init(fileSystem:floor:goesOn:)``.
    package init(
        fileSystem: any FileSystem, floor: ByteCount = 0, goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.fileSystem = fileSystem
        self.floor = floor
        self.goesOn = goesOn
    }

    /// What is to get a name.
    package final class Draft: Sendable {
        fileprivate enum Source: Sendable {
            /// The file itself.
            case file
            case unnamed(any File)
            case part(PartFile)
        }
        fileprivate let source: Source
        fileprivate let old: PublishedFile
        fileprivate let directory: FilePath
        /// As it will be, whatever its name.
        fileprivate let stamp: PublishedFile
        /// It is another file than the old one, which is to go.
        package var isCopy: Bool { if case .file = source { false } else { true } }

        fileprivate init(_ source: Source, _ old: PublishedFile, _ directory: FilePath, _ stamp: PublishedFile) {
            self.source = source
            self.old = old
            self.directory = directory
            self.stamp = stamp
        }

        /// A copy that has got no name goes.
        package func drop() {
            switch source {
            case .file: break
            case .unnamed(let file): file.close()
            case .part(let part): try? part.remove()
            }
        }
    }

    /// A name that may be free, with the file that will have it.
    package struct Candidate: Sendable {
        package let file: PublishedFile
        fileprivate let number: Int
    }

    /// What became of a name.
    package enum Naming: Sendable {
        case named
        /// Somebody has taken it: another one is to be tried.
        case taken(Candidate)
        /// The two directories are of different file systems after all: it is to begin again, copying.
        case mustCopy
    }

    /// Readies the file for its new name; a copy of it where that is needed. Blocks.
    package func begin(
        _ file: PublishedFile, to directory: String, copying: Bool = false
    ) throws(DownloadError) -> Draft {
        let directory = FilePath(directory).lexicallyNormalized()
        do throws(FileError) {
            if try fileSystem.statusIfPresent(directory) == nil {
                try fileSystem.makeDirectories(directory, syncs: true)
            }
            guard fileSystem.isWritable(directory) else {
                throw FileError(.create, directory, kind: .permission)
            }
            let place = try fileSystem.status(directory, followingLinks: true)
            guard place.kind == .directory else { throw FileError(.create, directory, kind: .notDirectory) }
            if place.device == file.device, !copying { return Draft(.file, file, directory, file) }
        } catch { throw DownloadError(error) }
        return try copied(file, to: directory)
    }

    /// The first name to try. Blocks.
    package func candidate(_ draft: Draft) throws(DownloadError) -> Candidate { try candidate(draft, from: 0) }

    /// Gives it this name. Blocks.
    package func name(_ draft: Draft, _ candidate: Candidate) throws(DownloadError) -> Naming {
        let path = FilePath(candidate.file.path)
        let publisher = Publisher(fileSystem: fileSystem, syncs: true, numbered: SafeName.numbered)
        do throws(FileError) {
            var isNamed = true
            switch draft.source {
            case .file:
                do throws(FileError) {
                    isNamed = try publisher.rename(FilePath(draft.old.path), to: path, replacing: false) != nil
                } catch {
                    if error.kind == .crossDevice { return .mustCopy }
                    throw error
                }
            case .unnamed(let file):
                do throws(FileError) { try fileSystem.link(file, to: path) } catch {
                    guard error.kind == .exists else { throw error }
                    isNamed = false
                }
            case .part(let part):
                isNamed = try publisher.rename(part.path, to: path, replacing: false) != nil
            }
            if isNamed { return try settled(draft, path, publisher) }
        } catch { throw DownloadError(error) }
        return .taken(try self.candidate(draft, from: candidate.number + 1))
    }

    // MARK: Steps

    /// Makes the name durable; what cannot be made durable is taken back.
    private func settled(_ draft: Draft, _ path: FilePath, _ publisher: Publisher) throws(FileError) -> Naming {
        do throws(FileError) {
            _ = try publisher.syncDirectory(of: path)
            if !draft.isCopy { _ = try publisher.syncDirectory(of: FilePath(draft.old.path)) }
            return .named
        } catch {
            if draft.isCopy {
                var copy = draft.stamp
                copy.path = path.string
                try? PublishedFile.delete(copy.path, ifUnchangedSince: copy, fileSystem: fileSystem)
            } else if (try? publisher.rename(path, to: FilePath(draft.old.path), replacing: false)) ?? nil == nil {
                // It stays there: better known than lost.
                return .named
            }
            throw error
        }
    }

    private func candidate(_ draft: Draft, from first: Int) throws(DownloadError) -> Candidate {
        let wanted = FilePath(draft.old.path).lastComponent?.string ?? "download"
        let taker = NameTaker(fileSystem: fileSystem, numbered: SafeName.numbered)
        do throws(FileError) {
            for number in first..<max(first, NameTaker.maxNumber + 1) {
                let name = number == 0 ? wanted : SafeName.numbered(wanted, number)
                guard let paths = DownloadPaths(directory: draft.directory, name: name) else { break }
                if case .part(let part) = draft.source, part.path == paths.part {
                    // The name that the copy has taken.
                    if try fileSystem.exists(paths.final) { continue }
                } else if try !taker.isFree(paths) {
                    continue
                }
                var file = draft.stamp
                file.path = paths.final.string
                return Candidate(file: file, number: number)
            }
        } catch { throw DownloadError(error) }
        throw DownloadError(
            .conflict, ErrorPhrase(.noNameLike, draft.directory.appending(wanted).string), recovery: .needsUser)
    }

    private func copied(_ old: PublishedFile, to directory: FilePath) throws(DownloadError) -> Draft {
        let source = FilePath(old.path)
        do {
            if case .short = try DirectorySpace(directory, floor: floor, fileSystem: fileSystem).check(
                needed: old.length)
            {
                throw FileError(.allocate, directory, kind: .noSpace)
            }
            let from = try fileSystem.openOurs(source, .readOnly, for: .removal)
            defer { from.close() }
            let status = try from.status()
            guard PublishedFile(source, status) == old else {
                throw DownloadError(.conflict, ErrorPhrase(.otherThanFinished, old.path), recovery: .needsUser)
            }
            let place = try place(for: source, in: directory)
            let to: any File
            switch place {
            case .unnamed(let file): to = file
            case .part(let part): to = part.file
            case .file: throw FileError(.create, directory, kind: .unsupported)
            }
            do {
                if old.length > 0 { _ = try to.allocate(length: old.length) }
                switch try FileCopy(from: from, to: to, goesOn: goesOn).copy([0..<old.length]) {
                case .copied: break
                case .differs: throw DownloadError(.disk, ErrorPhrase(.copyDiffers, old.path))
                case .stopped: throw DownloadError(.shutDown, ErrorPhrase(.moveStopped, old.path))
                }
                try dress(to, as: status, from)
                try to.sync()
                let stamp = PublishedFile(source, try to.status())
                return Draft(place, old, directory, stamp)
            } catch {
                Draft(place, old, directory, old).drop()
                throw error
            }
        } catch let error as FileError {
            throw DownloadError(error)
        } catch let error as PartFileError {
            throw DownloadError(error)
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.internal, "the file cannot be moved", underlying: "\(error)")
        }
    }

    private func place(for source: FilePath, in directory: FilePath) throws -> Draft.Source {
        do throws(FileError) {
            return .unnamed(try fileSystem.openUnnamed(in: directory, mode: 0o600))
        } catch {
            guard error.kind == .unsupported else { throw error }
        }
        let taker = NameTaker(fileSystem: fileSystem, numbered: SafeName.numbered)
        switch try taker.take(source.lastComponent?.string ?? "download", in: directory, rule: .rename) {
        case .taken(let part, _, _): return .part(part)
        case .exists(let path), .blocked(let path), .noFreeName(let path): throw PartFileError.exists(path)
        }
    }

    /// Mode, time and where it came from; what the file system there cannot keep is left out.
    private func dress(_ file: any File, as status: FileStatus, _ source: any File) throws(FileError) {
        try? file.setMode(status.mode)
        try? file.setModificationTime(status.modified)
        if let value = try? source.attribute(SourceAttribute.name) {
            try? file.setAttribute(SourceAttribute.name, value)
        }
    }
}
