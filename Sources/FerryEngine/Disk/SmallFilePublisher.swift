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
        var failure: PublishError?
        var result = Result.needsPartFile("")
        bytes.withUnsafeBytes { buffer in
            do throws(PublishError) { result = try publish(buffer, order) } catch { failure = error }
        }
        if let failure { throw failure }
        return result
    }

    /// Publishes `bytes`, which are the whole; the order's length is not looked at.
    package func publish(_ bytes: UnsafeRawBufferPointer, _ order: PublishOrder) throws(PublishError) -> Result {
        var order = order
        order.length = ByteCount(bytes.count)
        let file: any File
        do throws(FileError) {
            // The system takes the umask off, and a default ACL of the directory counts: one call less.
            file = try fileSystem.openUnnamed(in: order.directory.isEmpty ? "." : order.directory, mode: 0o666)
        } catch {
            guard error.kind == .unsupported else { throw .file(error) }
            return .needsPartFile("the file system has no unnamed files")
        }
        defer { file.close() }
        var notes: [PublishNote] = []
        do throws(FileError) {
            if !bytes.isEmpty { try file.write(bytes, at: 0) }
            notes = FileDress(order, mode: nil).put(on: file)
            if syncs { try file.sync() }
        } catch {
            throw .file(error)
        }
        return try name(file, order, notes)
    }

    private func name(_ file: any File, _ order: PublishOrder, _ notes: [PublishNote]) throws(PublishError) -> Result {
        let taker = NameTaker(fileSystem: fileSystem, numbered: numbered)
        for number in 0...NameTaker.maxNumber {
            let name = number == 0 ? order.name : numbered(order.name, number)
            guard let paths = DownloadPaths(directory: order.directory, name: name) else {
                return .blocked(order.directory.appending(name))
            }
            do throws(FileError) {
                if number == 0 {
                    // The rest of what makes a name free is looked at only when it is not the first choice.
                    if let part = try fileSystem.statusIfPresent(paths.part) {
                        // Left by a crash, it goes when its name is taken over; that is the part file's way.
                        if NameTaker.isAbandoned(part) { return .needsPartFile("\(paths.part) is abandoned") }
                        if order.rule == .rename { continue }
                        return try fileSystem.exists(paths.final) && order.rule != .overwrite
                            ? .exists(paths.final) : .blocked(paths.part)
                    }
                } else if try !taker.isFree(paths) {
                    continue
                }
                try fileSystem.link(file, to: paths.final)
            } catch {
                switch error.kind {
                case .exists:
                    switch order.rule {
                    case .rename: continue
                    case .fail, .skip: return .exists(paths.final)
                    case .overwrite: return try replacement(of: paths.final)
                    }
                case .unsupported, .crossDevice, .notFound:
                    return .needsPartFile(error.message)
                default:
                    throw .file(error)
                }
            }
            let notes = number == 0 ? notes : notes + [.numbered(name)]
            return .published(try settle(Published(path: paths.final, name: name, notes: notes), paths.directory))
        }
        return .noFreeName(order.directory.appending(order.name))
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
