package import FerryCore
import HTTPTypes
package import SystemPackage

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The part file and the journal of a download, open and locked, and the rules of its request.
package struct HandoverPair: Sendable {
    package let part: PartFile
    package let journal: Journal
    /// The newest record of the journal.
    package internal(set) var record: JournalRecord
    package let rules: ResumeRules
    /// `false` for downloads that do not sync.
    package let syncs: Bool
    /// Whether a whole file is accepted without a strong validator.
    package let acceptsUnproven: Bool
    /// Whether the pair was created for the landed file that is being spliced.
    private var isMade = false

    package init(
        part: PartFile, journal: Journal, record: JournalRecord, rules: ResumeRules, syncs: Bool,
        acceptsUnproven: Bool = false
    ) {
        self.part = part
        self.journal = journal
        self.record = record
        self.rules = rules
        self.syncs = syncs
        self.acceptsUnproven = acceptsUnproven
    }

    package func close() {
        journal.close()
        part.close()
    }

    /// Opens and locks the pair of a download; `nil` if one of its files is missing, or the journal belongs to another download.
    /// Blocks.
    package static func open(
        _ id: DownloadID, at path: FilePath, rules: ResumeRules, syncs: Bool, acceptsUnproven: Bool = false,
        fileSystem: any FileSystem
    ) throws(DownloadError) -> HandoverPair? {
        guard let paths = DownloadPaths(of: path) else { return nil }
        let part: PartFile
        do throws(PartFileError) { part = try PartFile.open(paths.part, fileSystem: fileSystem) } catch {
            if case .missing = error { return nil }
            throw DownloadError(error)
        }
        do throws(JournalError) {
            let (journal, record) = try Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: syncs)
            let pair = HandoverPair(
                part: part, journal: journal, record: record, rules: rules, syncs: syncs,
                acceptsUnproven: acceptsUnproven)
            guard record.id == id.rawValue else {
                pair.close()
                return nil
            }
            return pair
        } catch {
            part.close()
            if case .missing = error { return nil }
            throw DownloadError(error)
        }
    }
}

extension HandoverPair {
    /// Reserves a name for a download that has never run and whose whole file has landed, and creates its part file and journal;
    /// `nil` if its conflict rule permits no name, so that the next run decides. Blocks.
    ///
    /// - Parameters:
    ///   - head: The response for the file, which may suggest a name.
    ///   - tags: The list attributes of the download.
    ///   - date: The current date.
    package static func make(
        _ id: DownloadID, of request: DownloadRequest, landed head: ResponseHead, tags: JournalTags,
        acceptsUnproven: Bool, date: Date, fileSystem: any FileSystem
    ) throws(DownloadError) -> (pair: HandoverPair, paths: DownloadPaths)? {
        let suggested = head.values(.contentDisposition).first.flatMap { ContentDisposition.fileName($0) }
        guard let source = request.sources.first, request.uploadTo == nil,
            let (directory, name) = request.wantedPlace(suggested: suggested, url: source, finalURL: nil)
        else { return nil }
        var record = JournalRecord(
            id: id.rawValue, urls: request.sources.map(\.text), name: "", totalBytes: nil, identity: FileIdentity(),
            checksum: request.checksum?.description, createdAt: date.timeIntervalSince1970)
        if case .file = request.destination { record.isNameRequested = true }
        do throws(FileError) {
            try fileSystem.makeDirectories(directory, syncs: request.syncsToDisk)
        } catch { throw DownloadError(error) }
        // The process may have been killed after the pair was created and before the list recorded its name.
        for number in 0...NameTaker.maxNumber {
            guard let paths = DownloadPaths(name, number: number, in: directory),
                let known = try? Journal.read(at: paths.journal, fileSystem: fileSystem)
            else { break }
            guard known.id == id.rawValue else { continue }
            let pair = try open(
                id, at: paths.part, rules: ResumeRules(trust: request.trust, hasDigest: request.hasDigest),
                syncs: request.syncsToDisk, acceptsUnproven: acceptsUnproven, fileSystem: fileSystem)
            return pair.map { ($0, paths) }
        }
        let taken: NameTaker.Result
        do throws(PartFileError) {
            taken = try NameTaker(fileSystem: fileSystem).take(name, in: directory, rule: request.onConflict)
        } catch { throw DownloadError(error) }
        guard case .taken(let part, let paths, _) = taken else { return nil }
        record.name = paths.name
        (record.partDevice, record.partInode, record.partCreated) = (part.device, part.inode, part.created?.pair)
        (record.trust, record.root) = (request.trust, request.root)
        record.take(tags)
        do throws(JournalError) {
            let journal = try Journal.create(
                at: paths.journal, record: record, fileSystem: fileSystem, syncs: request.syncsToDisk)
            var pair = HandoverPair(
                part: part, journal: journal, record: record,
                rules: ResumeRules(trust: request.trust, hasDigest: request.hasDigest), syncs: request.syncsToDisk,
                acceptsUnproven: acceptsUnproven)
            pair.isMade = true
            return (pair, paths)
        } catch {
            try? part.remove()
            throw DownloadError(error)
        }
    }

    /// Removes the pair and frees its name if it was created for a landed file that was not spliced.
    func discardIfUseless() {
        guard isMade, record.claimed.isEmpty else { return }
        try? journal.remove()
        try? part.remove()
    }
}

/// Copies the bytes of a landed file into the part file and claims them in the journal.
///
///     check ─► write the missing bytes ─► sync the part file ─► claim in the journal ─► (the caller removes the file)
///
/// Each step may be the last before a crash: the next call starts over, writes the bytes that are still missing, and finds
/// nothing to do once the journal claims the range. Claimed bytes are never written again.
package struct LandedFileSplicer {
    package static let pieceBytes: ByteCount = 1 << 20

    private let landing: LandingDirectory
    private let fileSystem: any FileSystem
    private let mustStop: @Sendable () -> Bool

    /// - Parameters:
    ///   - landing: The directory of the landed files.
    ///   - fileSystem: The file system of the landed files and the part files.
    ///   - mustStop: Whether no time is left; called before each piece of ``pieceBytes``.
    package init(
        _ landing: LandingDirectory, fileSystem: any FileSystem, mustStop: @escaping @Sendable () -> Bool = { false }
    ) {
        self.landing = landing
        self.fileSystem = fileSystem
        self.mustStop = mustStop
    }

    /// Splices the landed file of a lease. Blocks. Throws if the part file or the journal failed; the landed file then stays.
    ///
    /// Returns `postponed` if no time is left: the bytes of a range that were written until then are claimed, and the next call
    /// continues after them.
    package func splice(
        _ lease: Lease, into pair: inout HandoverPair, now: Date
    ) throws(DownloadError) -> SpliceResult {
        guard let claims = try self.claims(of: pair) else { return .postponed }
        if let range = lease.range, claims.holds(range) { return .ended(.repeated) }
        let landed: (file: any File, facts: LandedFacts?)
        do throws(FileError) { landed = try landing.open(lease.number, fileSystem) } catch {
            if error.kind == .notFound { return .ended(.lost) }
            if case .notOurs = error.kind { return .ended(.refused(.damaged)) }
            throw DownloadError(error)
        }
        defer { landed.file.close() }
        guard let facts = landed.facts else { return .ended(.refused(.damaged)) }
        if let boot = facts.unsyncedBoot, boot != fileSystem.bootID { return .ended(.refused(.notSynced)) }
        let length: ByteCount
        do throws(FileError) { length = try landed.file.status().length } catch { throw DownloadError(error) }
        var held = PartialContent(identity: pair.record.identity, ranges: claims)
        held.digests = pair.record.offered.flatMap { try? Checksum(parsing: $0) }.map { [$0] } ?? []
        let verdict = LandedVerdict.judge(
            facts.head, length: length, lease: lease, held: held, total: pair.record.totalBytes, rules: pair.rules,
            acceptsUnproven: pair.acceptsUnproven, now: now)
        switch verdict {
        case .repeated: return .ended(.repeated)
        case .refused(let reason): return .ended(.refused(reason))
        case .splice(let range, let representation, let join):
            let start = range.lowerBound
            let missing = RangeSet(range).subtracting(claims)
            var written = RangeSet<ByteCount>()
            for piece in Self.pieces(of: missing) {
                if mustStop() {
                    // A whole file is claimed only when all of it has been written.
                    if lease.range != nil, !written.isEmpty {
                        try claim(written, representation, join: join, isWhole: false, claims, &pair)
                    }
                    return .postponed
                }
                let bytes: [UInt8]
                do throws(FileError) {
                    bytes = try landed.file.read(piece.lowerBound - start..<piece.upperBound - start)
                } catch { return .ended(.refused(.damaged)) }
                do throws(FileError) { try pair.part.write(bytes, at: piece.lowerBound) } catch {
                    throw DownloadError(error)
                }
                written.insert(contentsOf: piece)
            }
            try claim(RangeSet(range), representation, join: join, isWhole: lease.range == nil, claims, &pair)
            return .ended(.claimed(missing.byteCount))
        }
    }

    /// Returns the claims of the journal; `nil` if the next run of the download has to resolve something first.
    private func claims(of pair: HandoverPair) throws(DownloadError) -> RangeSet<ByteCount>? {
        let (record, part) = (pair.record, pair.part)
        guard record.publishing == nil, record.moving == nil, record.mismatch == nil, record.isTaken != true,
            record.partDevice == part.device, record.partInode == part.inode,
            record.partCreated == nil || part.created == nil || record.partCreated == part.created?.pair,
            record.unsyncedBoot == nil || record.unsyncedBoot == fileSystem.bootID,
            let claims = RangeSet<ByteCount>(pairs: record.claimed)
        else { return nil }
        do throws(FileError) {
            return try part.isIntact(length: claims.ranges.last?.upperBound ?? 0) ? claims : nil
        } catch { throw DownloadError(error) }
    }

    private func claim(
        _ ranges: RangeSet<ByteCount>, _ representation: Representation, join: Proof, isWhole: Bool,
        _ claims: RangeSet<ByteCount>, _ pair: inout HandoverPair
    ) throws(DownloadError) {
        var record = pair.record
        record.claimed = claims.union(ranges).pairs
        record.weakestJoin = min(record.weakestJoin ?? .strong, join)
        record.unsyncedBoot = pair.syncs ? nil : fileSystem.bootID
        if isWhole {
            record.identity = representation.identity
            record.totalBytes = representation.identity.totalBytes
            record.offered = representation.digests.first?.description
        }
        do throws(FileError) {
            if pair.syncs { try pair.part.dataSync() }
            guard try pair.part.isIntact(length: record.claimed.last?.last ?? 0) else {
                throw FileError(.inspect, pair.part.path, kind: .endedEarly)
            }
        } catch { throw DownloadError(error) }
        do throws(JournalError) { try pair.journal.write(record) } catch { throw DownloadError(error) }
        pair.record = record
    }

    private static func pieces(of ranges: RangeSet<ByteCount>) -> [Range<ByteCount>] {
        ranges.ranges.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: ByteCount.Stride(pieceBytes)).map { start in
                start..<min(range.upperBound, start + pieceBytes)
            }
        }
    }
}
