import FerryCore
package import SystemPackage

/// Publishes a file whose bytes are all in memory (DESIGN §3.10).
///
///     unnamed file; write; time, attribute; sync; link to the name; sync the directory
///
/// A crash leaves the whole file or nothing: what has no name goes by itself.
package struct SmallFilePublisher: Sendable {
    package enum Result: Sendable {
        case published(Published)
        /// The name is taken, and the rule is to fail or to skip.
        case exists(FilePath)
        /// Another download has this beside the wanted name, or it must not be replaced; the rule allows no other name.
        case blocked(FilePath)
        case noFreeName(FilePath)
        /// It does not go this way, and why: no unnamed files here, or a file is to be replaced.
        case needsPartFile(String)
    }

    /// The whole file, synced, without a name. It goes by itself when it is closed.
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

    /// What is next on the way to a name.
    package enum Step: Sendable {
        /// Give it this one: ``link(_:as:)``.
        case name(Candidate)
        case done(Result)
    }

    private let fileSystem: any FileSystem
    private let syncs: Bool
    private let numbered: @Sendable (String, Int) -> String

    /// As ``Publisher/init(fileSystem:syncs:numbered:)``.
    package init(
        fileSystem: any FileSystem, syncs: Bool, numbered: @escaping @Sendable (String, Int) -> String
    ) {
        self.fileSystem = fileSystem
        self.syncs = syncs
        self.numbered = numbered
    }

    /// Publishes `bytes`, which are the whole; the order's length is not looked at.
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

    /// Writes `bytes`, which are the whole, to a file that has no name yet; `nil` where there are no unnamed files.
    package func draft(_ bytes: [UInt8], _ order: PublishOrder) throws(PublishError) -> Draft? {
        var order = order
        order.length = ByteCount(bytes.count)
        let file: any File
        do throws(FileError) {
            // The system takes the umask off, and a default ACL of the directory counts: one call less.
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
            throw .file(error)
        }
    }

    /// The first name to try.
    package func firstStep(of draft: Draft) throws(PublishError) -> Step { try step(of: draft, from: 0) }

    /// The next name to try, from this number on.
    private func step(of draft: Draft, from first: Int) throws(PublishError) -> Step {
        let order = draft.order
        let taker = NameTaker(fileSystem: fileSystem, numbered: numbered)
        for number in first..<max(first, NameTaker.maxNumber + 1) {
            let name = number == 0 ? order.name : numbered(order.name, number)
            guard let paths = DownloadPaths(directory: order.directory, name: name) else {
                return .done(.blocked(order.directory.appending(name)))
            }
            do throws(FileError) {
                if number == 0 {
                    // The rest of what makes a name free is looked at only when it is not the first choice.
                    if let part = try fileSystem.statusIfPresent(paths.part) {
                        // Left by a crash, it goes when its name is taken over; that is the part file's way.
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

    /// Gives it this name, or says which one to try next.
    package func link(_ draft: Draft, as candidate: Candidate) throws(PublishError) -> Step {
        let paths = candidate.paths
        do throws(FileError) {
            try fileSystem.link(draft.file, to: paths.final)
        } catch {
            switch error.kind {
            case .exists:
                switch draft.order.rule {
                case .rename: return try step(of: draft, from: candidate.number + 1)
                case .fail, .skip: return .done(.exists(paths.final))
                case .overwrite: return .done(try replacement(of: paths.final))
                }
            case .unsupported, .crossDevice, .notFound: return .done(.needsPartFile(error.message))
            default: throw .file(error)
            }
        }
        var notes = draft.notes
        if candidate.number > 0 {
            let taker = NameTaker(fileSystem: fileSystem, numbered: numbered)
            notes.append(taker.note(numbered: paths.name, instead: draft.order))
        }
        return .done(
            .published(try settle(Published(path: paths.final, name: paths.name, notes: notes), paths.directory)))
    }

    /// Linking never replaces, and a temporary name could be left behind: that is work for the part file's way.
    private func replacement(of path: FilePath) throws(PublishError) -> Result {
        do throws(FileError) {
            if let status = try fileSystem.statusIfPresent(path),
                try !Replaceable.allows(path, status, fileSystem: fileSystem)
            {
                return .blocked(path)
            }
            return .needsPartFile("\(path.string) is to be replaced")
        } catch {
            throw .file(error)
        }
    }

    private func settle(_ published: Published, _ directory: FilePath) throws(PublishError) -> Published {
        guard syncs else { return published }
        var published = published
        do throws(FileError) {
            try fileSystem.syncDirectory(directory)
        } catch {
            guard error.kind == .unsupported else { throw .unsyncedName(published, error) }
            published.notes.append(.directoryNotSyncable)
        }
        return published
    }
}
