import FerryCore
import SystemPackage

/// Looks for a finished file that is the result of a download, as far as this can be determined without its server.
///
/// Only files that pass the ownership check are accepted: any user can set a name, a date or an attribute, and can change
/// the bytes after they were compared.
struct FinishedSearch {
    private let own: OwnFiles
    private let files: FileIO
    private let listing: ChecksumListing
    private let report: (DownloadDriver.Report) -> Void
    private let isStopped: () -> Bool
    private let sources: [DownloadURL]
    /// The expected digest, including one found in the request's list of checksums.
    private(set) var digest: ExpectedDigest
    /// The file to ask the server about.
    private(set) var earlier: Prepared.EarlierFile?
    private var request: DownloadRequest { own.request }

    init(
        _ own: OwnFiles, _ files: FileIO, _ listing: ChecksumListing, sources: [DownloadURL], digest: ExpectedDigest,
        report: @escaping (DownloadDriver.Report) -> Void, isStopped: @escaping () -> Bool
    ) {
        self.own = own
        self.files = files
        self.listing = listing
        self.sources = sources
        self.digest = digest
        self.report = report
        self.isStopped = isStopped
    }

    /// Returns the finished file at `path` or at a numbered name of it. `isOwn`: this download published the file according to
    /// its journal.
    mutating func run(
        _ path: FilePath, isOwn: Bool, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        let copies = isOwn ? [] : own.copies(of: path, from: sources.first, disk)
        for path in [path] + copies {
            if let finished = try await look(at: path, isOwn: isOwn, disk) { return finished }
            if isStopped() || earlier != nil { break }
        }
        return nil
    }

    private mutating func look(
        at path: FilePath, isOwn: Bool, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        guard isOwn || !own.context.ignoresFinished,
            let named = try? disk.fileSystem.statusIfPresent(path), named.kind == .regular
        else { return nil }
        let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
        defer { file?.close() }
        let status = try? file?.status()
        var finished = FinishedDownload(
            path: path.string, totalBytes: named.length, proof: .none, wasAlreadyComplete: true,
            redactedFinalURL: sources.first?.redacted ?? "")
        // The server may choose another name, which the checksum list may contain.
        let listed = try? await listing.find(own.names(from: sources), unless: digest)
        if let listed { digest.listed(listed) }
        if let checksum = digest.requested, let file, let status {
            report(.state(.verifying))
            let actual = try? await files.digest(to: status.length, unless: isStopped) { _ in
                PrefixDigest(checksum.algorithm, of: file)
            }
            if isStopped() { return nil }
            if actual?.finish() == checksum.bytes {
                (finished.totalBytes, finished.proof, finished.checksum) = (status.length, .digest, checksum)
                return finished
            }
            if request.onConflict == .skip {
                throw DownloadError(.conflict, ErrorPhrase(.otherDigest, "\(path)"), recovery: .needsUser)
            }
            report(.event(.note(Reason(.otherDigest, "\(path)"))))
        }
        if request.onConflict == .skip {
            report(.event(.note(Reason(.skipped, "\(path)"))))
            return finished
        }
        if digest.requested == nil, let file, let status, let url = sources.first {
            earlier = Prepared.EarlierFile(path, file, status, of: url, strict: request.trust.strict, disk)
        }
        return nil
    }
}

extension Prepared.EarlierFile {
    /// Opens a finished file; see ``init(_:_:_:of:strict:_:)``.
    init?(at path: FilePath, of url: DownloadURL, strict: Bool, _ disk: Disk) {
        guard let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content) else { return nil }
        defer { file.close() }
        guard let status = try? file.status() else { return nil }
        self.init(path, file, status, of: url, strict: strict, disk)
    }

    /// Creates the file with its validators; `nil` if its attribute does not match the URL and the bytes.
    init?(_ path: FilePath, _ file: any File, _ status: FileStatus, of url: DownloadURL, strict: Bool, _ disk: Disk) {
        guard let attribute = SourceAttribute.read(file), attribute.matches(url: url.text, status),
            !disk.hasDamagedJournal(beside: path)
        else { return nil }
        let identity = FileIdentity(
            etag: attribute.etag, lastModified: attribute.lastModified, totalBytes: status.length)
        // A 304 response to a date or a weak tag proves no more than that validator.
        guard identity.strongTag != nil || !strict && identity.hasValidator else { return nil }
        self.init(path: path, identity: identity, checksum: attribute.checksum)
    }
}
