package import FerryCore
import SystemPackage

/// Moves a finished file to another directory by renaming, or across file systems by copying and comparing.
///
///     begin: across file systems, an unnamed copy               ``begin(_:to:copying:)``
///     the caller announces a candidate name                     ``candidate(_:)``
///     the file gets the name, without replacing                 ``name(_:_:)``
///     the caller records the new path, deletes the original     ``PublishedFile/delete(_:ifUnchangedSince:fileSystem:)``
///
/// Invariants: at every moment a complete file has the old or the new name; nothing is replaced. A crash leaves no
/// incomplete copy, except a `NAME.part` where the file system has no unnamed files.
package struct FileMover: Sendable {
    private let fileSystem: any FileSystem
    private let reserve: ByteCount?
    private let continues: @Sendable () -> Bool

    /// Parameters as in ``PartialDownloadMover/init(fileSystem:reserve:continues:)``.
    package init(
        fileSystem: any FileSystem, reserve: ByteCount? = 0, continues: @escaping @Sendable () -> Bool = { true }
    ) {
        self.fileSystem = fileSystem
        self.reserve = reserve
        self.continues = continues
    }

    /// A file or a copy that is ready for its new name.
    package final class Draft: Sendable {
        fileprivate enum Source: Sendable {
            /// The original file, to be renamed.
            case file
            case unnamed(any File)
            case part(PartFile)
        }
        fileprivate let source: Source
        fileprivate let old: PublishedFile
        fileprivate let directory: FilePath
        /// The fingerprint that the file will have, except for its path.
        fileprivate let stamp: PublishedFile
        /// Whether the draft is a copy, so that the original must be deleted afterwards.
        package var isCopy: Bool { if case .file = source { false } else { true } }

        fileprivate init(_ source: Source, _ old: PublishedFile, _ directory: FilePath, _ stamp: PublishedFile) {
            self.source = source
            self.old = old
            self.directory = directory
            self.stamp = stamp
        }

        /// Removes a copy that was not named.
        package func drop() {
            switch source {
            case .file: break
            case .unnamed(let file): file.close()
            case .part(let part): try? part.remove()
            }
        }
    }

    /// A name that may be free, with the fingerprint of the file under it.
    package struct Candidate: Sendable {
        package let file: PublishedFile
        fileprivate let number: Int
    }

    /// The result of naming a draft.
    package enum Naming: Sendable {
        case named
        /// Another file took the name; the payload is the next candidate.
        case taken(Candidate)
        /// The directories are on different file systems after all: call ``begin(_:to:copying:)`` again with `copying`.
        case mustCopy
    }

    /// Prepares the file for its new name, with a copy where needed. Blocks.
    package func begin(
        _ file: PublishedFile, to directory: String, copying: Bool = false
    ) throws(DownloadError) -> Draft {
        let directory = FilePath(directory).lexicallyNormalized()
        let place: FileStatus
        do throws(FileError) {
            if try fileSystem.statusIfPresent(directory) == nil {
                try fileSystem.makeDirectories(directory, syncs: true)
            }
            place = try fileSystem.status(directory, followingLinks: true)
            guard place.kind == .directory else { throw FileError(.create, directory, kind: .notDirectory) }
        } catch { throw DownloadError(error) }
        guard fileSystem.isWritable(directory) else {
            throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(directory)"))
        }
        if place.device == file.device, !copying { return Draft(.file, file, directory, file) }
        return try copied(file, to: directory)
    }

    /// Returns the first name to try. Blocks.
    package func candidate(_ draft: Draft) throws(DownloadError) -> Candidate { try candidate(draft, from: 0) }

    /// Gives the file this name. Blocks.
    package func name(_ draft: Draft, _ candidate: Candidate) throws(DownloadError) -> Naming {
        let path = FilePath(candidate.file.path)
        let publisher = Publisher(fileSystem: fileSystem, syncs: true)
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

    /// Makes the name durable, or reverts the move if that fails.
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
                // Reverting failed: the file keeps the new name, which the caller then records.
                return .named
            }
            throw error
        }
    }

    private func candidate(_ draft: Draft, from first: Int) throws(DownloadError) -> Candidate {
        let wanted = FilePath(draft.old.path).lastComponent?.string ?? "download"
        let taker = NameTaker(fileSystem: fileSystem)
        do throws(FileError) {
            for number in first..<max(first, NameTaker.maxNumber + 1) {
                guard let paths = DownloadPaths(wanted, number: number, in: draft.directory) else { break }
                if case .part(let part) = draft.source, part.path == paths.part {
                    // The name is reserved by the copy's own part file.
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
            try DirectorySpace(directory, reserve: reserve, fileSystem: fileSystem).require(old.length)
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
                switch try FileCopy(from: from, to: to, continues: continues).copy([0..<old.length]) {
                case .copied: break
                case .differs: throw DownloadError(.disk, ErrorPhrase(.copyDiffers, old.path))
                case .stopped: throw DownloadError(.shutDown, ErrorPhrase(.moveStopped, old.path))
                }
                FileMetadata.copy(of: from, status, to: to)
                try to.sync()
                let stamp = PublishedFile(source, try to.status())
                return Draft(place, old, directory, stamp)
            } catch {
                Draft(place, old, directory, old).drop()
                if case .unnamed = place, let error = error as? FileError, error.path == directory {
                    throw error.of(unnamed: directory.appending(source.lastComponent?.string ?? ""))
                }
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
        let taker = NameTaker(fileSystem: fileSystem)
        switch try taker.take(source.lastComponent?.string ?? "download", in: directory, rule: .rename) {
        case .taken(let part, _, _): return .part(part)
        case .exists(let path), .blocked(let path), .noFreeName(let path): throw PartFileError.exists(path)
        }
    }
}
