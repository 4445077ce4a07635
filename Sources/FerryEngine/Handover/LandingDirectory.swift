package import FerryCore
package import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of a manager's leases and of the files that have landed for them: private to the user, and on the volume of the
/// system's temporary files.
///
///     ferry-leases.json    the ``LeaseBook``; replaced as a whole
///     NUMBER.landed        the body of a lease's response; ``LandedFacts`` are in its attribute `user.ferry.landed`
///
/// A landed file gets its facts before its name, so that every file with such a name has facts, even after a crash.
package struct LandingDirectory: Sendable, Hashable {
    static let attribute = "user.ferry.landed"
    // allow(names): in a directory of Ferry's own, where no server names files.
    private static let ending = ".landed"

    package let path: FilePath

    package init(_ path: FilePath) { self.path = path }

    private var bookPath: FilePath { path.appending("ferry-leases.json") }
    package func path(of number: LeaseNumber) -> FilePath { path.appending("\(number)\(Self.ending)") }

    /// Creates the directory if it is missing, and removes an incomplete copy that a killed process left. Must be called before
    /// any file lands.
    package func prepare(_ fileSystem: any FileSystem) throws(FileError) {
        try fileSystem.makeDirectories(path, syncs: true)
        for name in try fileSystem.list(path) where name.dropping(suffix: Self.ending + ReservedName.draft.text) != nil
        {
            // allow(ours): the directory is private, and no file of this name is whole.
            try fileSystem.removeIfPresent(path.appending(name))
        }
        // allow(ours): the directory is private, and its files can be fetched again.
        guard let directory = try? fileSystem.open(path, .readOnly) else { return }
        directory.mark(as: .unfinished)
        directory.close()
    }

    // MARK: Landing

    /// Moves the system's temporary file to its place. This takes only the time for an attribute and a rename, whatever the
    /// size; but if the boot cannot be identified, the file is synced at once.
    ///
    /// Nothing else is synced: a file that landed before a restart of the system is not used, because any of its bytes may
    /// be lost.
    package func land(
        _ file: FilePath, as number: LeaseNumber, _ head: ResponseHead, fileSystem: any FileSystem
    ) throws(FileError) {
        let boot = fileSystem.bootID
        // allow(ours): the system has just written it for this process, and its content is verified later.
        let opened = try fileSystem.open(file, .readWrite)
        defer { opened.close() }
        let facts = try? JSONEncoder().encode(LandedFacts(head, unsyncedBoot: boot))
        guard let facts, facts.count <= LandedFacts.maxBytes else {
            throw FileError(.setAttribute, file, kind: .unsupported)
        }
        try opened.setAttribute(Self.attribute, Array(facts))
        if boot == nil { try opened.sync() }
        do throws(FileError) {
            try fileSystem.rename(file, to: path(of: number), replacing: true)
        } catch {
            guard error.kind == .crossDevice else { throw error }
            try copy(opened, to: path(of: number), facts, syncs: boot == nil, fileSystem)
        }
    }

    /// Copies a file from another volume, which happens if the app chose its own state directory. The time depends on the size
    /// of the file. The copy gets its name when it is complete.
    private func copy(
        _ file: any File, to path: FilePath, _ facts: Data, syncs: Bool, _ fileSystem: any FileSystem
    ) throws(FileError) {
        let draft = DownloadPaths.draft(of: path)
        // allow(ours): the directory is private, and a draft is left from a crash.
        try fileSystem.removeIfPresent(draft)
        let copy = try fileSystem.create(draft, mode: 0o600)
        defer { copy.close() }
        let whole = 0..<(try file.status().length)
        guard try FileCopy(from: file, to: copy, continues: { true }).copy([whole]) == .copied else {
            throw FileError(.write, draft, kind: .endedEarly)
        }
        try copy.setAttribute(Self.attribute, Array(facts))
        if syncs { try copy.sync() }
        try fileSystem.rename(draft, to: path, replacing: true)
    }

    /// Returns the lease numbers of the landed files.
    package func landed(_ fileSystem: any FileSystem) throws(FileError) -> [LeaseNumber] {
        try fileSystem.list(path).compactMap { $0.dropping(suffix: Self.ending).flatMap { LeaseNumber($0) } }
    }

    /// Opens a landed file and its facts; the facts are `nil` if they are missing or unusable.
    func open(
        _ number: LeaseNumber, _ fileSystem: any FileSystem
    ) throws(FileError) -> (file: any File, facts: LandedFacts?) {
        let file = try fileSystem.openOurs(path(of: number), .readOnly, for: .content)
        do throws(FileError) {
            guard let bytes = try file.attribute(Self.attribute), bytes.count <= LandedFacts.maxBytes else {
                return (file, nil)
            }
            return (file, try? JSONDecoder().decode(LandedFacts.self, from: Data(bytes)))
        } catch {
            file.close()
            throw error
        }
    }

    /// Reads the response that belongs to a landed file; `nil` if it is missing or unusable.
    func head(of number: LeaseNumber, _ fileSystem: any FileSystem) -> ResponseHead? {
        guard let landed = try? open(number, fileSystem) else { return nil }
        landed.file.close()
        return landed.facts?.head
    }

    /// Removes a landed file, if there is one.
    package func remove(_ number: LeaseNumber, _ fileSystem: any FileSystem) throws(FileError) {
        // allow(ours): the directory is private, and the name is that of a lease.
        try fileSystem.removeIfPresent(path(of: number))
    }

    // MARK: Leases

    /// Reads the stored leases; `nil` if they are unusable, so that their tasks are unknown. Empty if none were stored.
    package func leases(_ fileSystem: any FileSystem) throws(FileError) -> LeaseBook? {
        let file: any File
        do throws(FileError) { file = try fileSystem.openOurs(bookPath, .readOnly) } catch {
            switch error.kind {
            case .notFound: return .empty
            case .notOurs: return nil
            default: throw error
            }
        }
        defer { file.close() }
        let length = try file.status().length
        guard length <= LeaseBook.maxBytes else { return nil }
        return try? JSONDecoder().decode(LeaseBook.self, from: Data(try file.read(0..<length)))
    }

    /// Replaces the stored leases, durably.
    package func store(_ book: LeaseBook, _ fileSystem: any FileSystem) throws(FileError) {
        let draft = DownloadPaths.draft(of: bookPath)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(book) else { throw FileError(.create, draft, kind: .unsupported) }
        // allow(ours): the directory is private, and a draft is left from a crash.
        try fileSystem.removeIfPresent(draft)
        let file = try fileSystem.create(draft, mode: 0o600)
        defer { file.close() }
        try file.write(Array(text), at: 0)
        try file.sync()
        try fileSystem.rename(draft, to: bookPath, replacing: true)
        try fileSystem.syncDirectoryIfSupported(path)
    }
}
