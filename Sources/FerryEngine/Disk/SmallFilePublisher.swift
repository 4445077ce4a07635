import FerryCore
package import SystemPackage

/// Publishes a file from memory.
///
///     unnamed file; write; time, attribute; sync; link to the name; sync the directory
///
/// A crash leaves the complete file or nothing, because an unnamed file is freed with its last descriptor.
package struct SmallFilePublisher: Sendable {
    package enum Result: Sendable {
        case published(Published)
        /// The name is taken, and the rule is `fail` or `skip`.
        case exists(FilePath)
        /// A file from the same source with the same bytes appeared at the name meanwhile.
        case twin(FilePath)
        /// Another download's file blocks the name, and the rule allows no other name.
        case blocked(FilePath)
        case noFreeName(FilePath)
        /// The file must be published through a part file; the payload is the reason.
        case needsPartFile(String)
    }

    /// The complete file, synced, without a name. Closing it discards it.
    package struct Draft: Sendable {
        package let file: any File
        package let order: PublishOrder
        let notes: [PublishNote]
    }

    /// A name that may be free.
    package struct Candidate: Sendable {
        package let paths: DownloadPaths
        let number: Int
    }

    /// The next step of publishing a draft.
    package enum Step: Sendable {
        /// Link the draft to this name: ``link(_:as:)``.
        case name(Candidate)
        case done(Result)
    }

    let fileSystem: any FileSystem
    private let syncs: Bool

    /// `syncs: false` for `--no-fsync`.
    package init(fileSystem: any FileSystem, syncs: Bool) {
        self.fileSystem = fileSystem
        self.syncs = syncs
    }

    /// Publishes `bytes`, the complete file; ignores the order's length.
    package func publish(_ bytes: [UInt8], _ order: PublishOrder) throws(PublishError) -> Result {
        guard let draft = try draft(bytes, order) else {
            return .needsPartFile("the file system has no unnamed files")
        }
        defer { draft.file.close() }
        var step = try firstStep(of: draft)
        while true {
            switch step {
            case .name(let candidate): step = try link(draft, as: candidate)
            case .done(let result): return result
            }
        }
    }

    /// Writes `bytes`, the complete file, to an unnamed file; returns `nil` if the file system does not support such files.
    package func draft(_ bytes: [UInt8], _ order: PublishOrder) throws(PublishError) -> Draft? {
        var order = order
        order.length = ByteCount(bytes.count)
        let file: any File
        do throws(FileError) {
            // The kernel applies the umask or the directory's default ACL, which saves a system call.
            file = try fileSystem.openUnnamed(in: order.directory.isEmpty ? "." : order.directory, mode: 0o666)
        } catch {
            guard error.kind == .unsupported else { throw .file(error) }
            return nil
        }
        var notes: [PublishNote] = []
        do throws(FileError) {
            if !bytes.isEmpty { try file.write(bytes, at: 0) }
            notes = FileMetadata(order, mode: nil).put(on: file)
            if syncs { try file.sync() }
            return Draft(file: file, order: order, notes: notes)
        } catch {
            file.close()
            throw .file(error.of(unnamed: order.directory.appending(order.name)))
        }
    }

    /// Returns the first name to try.
    package func firstStep(of draft: Draft) throws(PublishError) -> Step { try step(of: draft, from: 0) }

    /// Returns the next name to try, starting with number `first`.
    private func step(of draft: Draft, from first: Int) throws(PublishError) -> Step {
        let order = draft.order
        let taker = NameTaker(fileSystem: fileSystem)
        for number in first..<max(first, NameTaker.maxNumber + 1) {
            guard let paths = DownloadPaths(order.name, number: number, in: order.directory) else {
                return .done(.blocked(order.directory.appending(order.name)))
            }
            do throws(FileError) {
                if number == 0 {
                    // The first candidate ignores a journal or backup without a part file; numbered names must be entirely free.
                    if let part = try fileSystem.statusIfPresent(paths.part) {
                        // An abandoned part file is removed only when a new download adopts it as its part file.
                        if NameTaker.isAbandoned(part) { return .done(.needsPartFile("\(paths.part) is abandoned")) }
                        if order.rule == .rename { continue }
                        return .done(
                            try fileSystem.exists(paths.final) && order.rule != .overwrite
                                ? .exists(paths.final) : .blocked(paths.part))
                    }
                } else if try !taker.isFree(paths) {
                    continue
                }
            } catch {
                if error.kind == .notFound { return .done(.needsPartFile(error.message)) }
                throw .file(error)
            }
            return .name(Candidate(paths: paths, number: number))
        }
        return .done(.noFreeName(order.directory.appending(order.name)))
    }

    /// Links the draft to the name, or returns the next name to try.
    package func link(_ draft: Draft, as candidate: Candidate) throws(PublishError) -> Step {
        let paths = candidate.paths
        do throws(FileError) {
            try fileSystem.link(draft.file, to: paths.final)
        } catch {
            switch error.kind {
            case .exists:
                switch draft.order.rule {
                case .rename:
                    if isTwin(paths.final, of: draft) { return .done(.twin(paths.final)) }
                    return try step(of: draft, from: candidate.number + 1)
                case .fail, .skip: return .done(.exists(paths.final))
                // A file that appeared meanwhile belongs to another download, which has reported its completion.
                case .overwrite: return .done(.blocked(paths.final))
                }
            case .unsupported, .crossDevice, .notFound, .permission:
                // A sandbox or file system may refuse only links. A part file is published by renaming instead.
                return .done(.needsPartFile(error.message))
            default: throw .file(error)
            }
        }
        var notes = draft.notes
        if candidate.number > 0 {
            let taker = NameTaker(fileSystem: fileSystem)
            notes.append(taker.note(numbered: paths.name, instead: draft.order))
        }
        let published = Published(path: paths.final, name: paths.name, notes: notes)
        return .done(.published(try published.settled(on: fileSystem, syncs: syncs)))
    }

    /// Whether the file is a complete download from the draft's source with the draft's bytes.
    private func isTwin(_ path: FilePath, of draft: Draft) -> Bool {
        guard draft.order.keepsTwin, let url = draft.order.source?.url,
            let file = try? fileSystem.openOurs(path, .readOnly, for: .content)
        else { return false }
        defer { file.close() }
        let length = draft.order.length
        guard let status = try? file.status(), status.length == length, status.kind == .regular,
            SourceAttribute.read(file)?.isFrom(url: url) == true, let other = try? file.read(0..<length),
            let own = try? draft.file.read(0..<length)
        else { return false }
        return other == own
    }
}
