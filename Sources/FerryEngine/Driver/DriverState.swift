import FerryCore
import SystemPackage

extension DownloadDriver {
    /// The state of a run, under one lock: its machine, and the values of each step.
    struct State {
        var machine: TransferMachine
        var meter = SpeedMeter()
        var interruption = Interruption()
        var tasks = Tasks()
        /// When the machine began; `nil` before existing files have been examined.
        var startedAt: Duration?
        /// The run has ended, and its storage is closed.
        var isOver = false
        var reads = Reading.idle
        var maxConnections: Int
        var links: Links
        var placement: Placement
        var digest: ExpectedDigest
        var finished = Finished()
        var faults = Faults()
        var space = Space()
        var reported = Reported()
    }

    /// What the manager was told, and what the metrics are told next.
    struct Reported {
        /// Whether the manager was told that the download waits until its next attempt.
        var isBackingOff = false
        /// The bytes that have arrived since the metrics were last told.
        private var newBytes: ByteCount = 0

        mutating func arrived(_ count: ByteCount) { newBytes += count }

        /// Returns the bytes that the metrics are told now.
        mutating func takeBytes() -> ByteCount {
            defer { newBytes = 0 }
            return newBytes
        }
    }

    /// The tasks of a run; they are awaited before it ends.
    struct Tasks {
        var connections: [ConnectionID: Task<Void, Never>] = [:]
        var checkpoint: Task<Void, Never>?
        /// Reads the document that describes the file.
        var description: Task<Void, Never>?

        /// Those that wait for servers.
        var requests: [Task<Void, Never>] { connections.values + (description.map { [$0] } ?? []) }
    }

    /// What ends the run before the machine does: a request to stop, or an error that did not come from the machine.
    struct Interruption {
        private(set) var stop: Stop?
        private(set) var error: DownloadError?

        /// Notes a request to stop; no later one replaces a cancellation.
        mutating func request(_ stop: Stop) {
            if self.stop != .cancel { self.stop = stop }
        }

        /// Notes an error; the first one counts.
        mutating func fail(_ error: DownloadError) {
            if self.error == nil { self.error = error }
        }
    }

    /// Whether bodies are read, and whether this download's own limit counts for the sizes of reads meanwhile.
    enum Reading { case idle, unlimited, limited }

    /// The URLs, and where they lead.
    struct Links {
        /// First the source, then its mirrors; their positions identify them.
        var urls: [DownloadURL]
        /// The number of mirrors at the end of `urls` that the server has named. No journal has them: it would be found by
        /// their URLs, and whoever asks for one of these has not asked for the first source.
        var namedCount = 0
        /// The URLs without those that the server has named.
        var given: [DownloadURL] { Array(urls.dropLast(namedCount)) }
        /// The targets of redirects.
        var resolved: [Int: DownloadURL] = [:]
        var finalURL: DownloadURL?
        /// The source that sent the validators of the record.
        var primary = 0
        /// The number of failed lookups of host names.
        var missingNames: Int
        /// The host that refused the credentials of the newest response; `nil` if it accepted them or got none.
        var refusedBy: String?

        mutating func answered(_ source: Int, _ response: TransferResponse) {
            refused(response)
            resolved[source] = response.redirects.isEmpty ? nil : response.url
        }

        mutating func refused(_ response: TransferResponse) {
            refusedBy = response.head.status == 401 && response.wasAuthorized ? response.url.host : nil
        }
    }

    /// The name of the file, and the record of its part file.
    ///
    /// The record describes the file that the storage has a place for, unless `isReplacing`: then the machine has
    /// switched to a new representation, and the storage has not.
    struct Placement {
        /// The pair that the new file replaces once it is published.
        enum Backup {
            case none
            /// Another pair of this run, which had these paths, and gives them to the new one.
            case own(DownloadPaths, id: String?)
            /// A backup that an interrupted run of this download left.
            case found(DownloadPaths, id: String)
        }

        /// The file's name, final or expected.
        var name: String
        /// The object that the file becomes; `nil` if it stays a file, or that is not known yet.
        var object: DownloadURL?
        var record: JournalRecord?
        var tags: JournalTags?
        var backup = Backup.none
        var isReplacing = false
        /// The file with no byte of the download, only space for it, that the finished one replaces.
        var emptyHalf: PublishedFile?
        /// Where the file would be if no other had its name; `nil` if the name is not this run's choice.
        var wanted: FilePath?
        /// The values of the last ``DownloadEvent/Kind/started(name:totalBytes:)`` event.
        var started: (name: String, totalBytes: ByteCount?)?

        /// The server's file gets this name, or a numbered one. A restart keeps the name that was taken first.
        mutating func choose(_ name: String, at path: FilePath) {
            self.name = name
            wanted = wanted ?? path
        }

        /// The paths that belong to this download although they do not exist.
        var ownPaths: DownloadPaths? { if case .own(let paths, _) = backup { paths } else { nil } }
        var foundBackup: DownloadPaths? { if case .found(let paths, _) = backup { paths } else { nil } }
        var backupPaths: DownloadPaths? { ownPaths ?? foundBackup }

        /// The id in the backup's journal.
        var backupID: String? {
            switch backup {
            case .none: nil
            case .own(_, let id): id
            case .found(_, let id): id
            }
        }
    }

    /// The required digest of the whole file.
    struct ExpectedDigest {
        /// The digest of the request or of its list of checksums, else of an earlier run.
        var requested: Checksum?
        /// Where ``requested`` is from.
        var origin: Reason
        /// The digest that the server sent to an earlier run.
        var offered: Checksum?
        /// The digests of the pieces from the document that the server named.
        var describedPieces: PieceDigests?
        /// A digest of an earlier run that its file did not have, and that was not given again.
        var dropped: Checksum?
        /// The digests of the complete file that are kept with it.
        var recorded: RecordedDigests?

        init(_ request: DownloadRequest) {
            requested = request.checksum
            origin = Reason(.checksumOfRequest)
        }

        /// Returns the digests for the partial content of a journal: those that are given now, else the journal's. A
        /// refuted one is not expected again by another request of the same URL.
        init(_ request: DownloadRequest, _ record: JournalRecord, isSameDownload: Bool) {
            self.init(request)
            guard !request.ignoresEarlierChecksum else { return }
            offered = record.offered.flatMap { try? Checksum(parsing: $0) }
            guard requested == nil, request.checksumList == nil,
                let earlier = record.checksum.flatMap({ try? Checksum(parsing: $0) })
            else { return }
            let isRefuted = record.mismatch?.expected == record.checksum
            if isRefuted, !isSameDownload, !request.sources.isEmpty {
                dropped = earlier
            } else {
                (requested, origin) = (earlier, Reason(.checksumOfEarlierRun))
            }
        }
    }

    /// The finished file.
    struct Finished {
        /// The file that existed already and satisfies the request.
        var existing: FinishedDownload?
        /// The published file according to a journal or its attribute, while it is being verified.
        var path: FilePath?
        /// Its validators according to its attribute.
        var known: FileIdentity?
        /// Its digest according to its attribute.
        var checksum: Checksum?
        /// The file with the final name was never synced, and the system has rebooted since.
        var isDistrusted = false
        /// The existing file that is compared by samples.
        var candidate: DownloadDriver.Candidate?
        /// An existing file was compared, and was not the server's.
        var wasCompared = false
        var contentType: String?
        /// The file that this run has published, as it was right after that.
        var published: PublishedFile?
    }

    /// Faults of the disk. The first one of a part file is repaired by opening the file again.
    struct Faults {
        enum Mending {
            case unneeded
            case due(DownloadError)
            case done
        }
        var mending = Mending.unneeded
        /// Whether a sync failed, so that no unclaimed byte is trusted.
        var distrustsUnclaimed = false
        /// The number of retractions; a digest that read bytes before the last one is invalid.
        var timesForgotten = 0

        var damage: DownloadError? { if case .due(let error) = mending { error } else { nil } }

        /// Returns whether the failed write or sync will be repaired.
        mutating func mends(_ error: FileError, ofPair: Bool) -> Bool {
            switch mending {
            case .due: return true
            case .done: return false
            case .unneeded:
                guard error.kind == .io, ofPair else { return false }
                mending = .due(DownloadError(error))
                return true
            }
        }
    }

    /// The free space that a file of unknown length leaves.
    struct Space {
        private var checkedAt: Duration = .zero
        /// The number of written bytes at which the free space is checked again.
        var enoughUntil: ByteCount = 0

        /// Returns whether a check is due, and counts it as made.
        mutating func isDue(at now: Duration) -> Bool {
            guard now - checkedAt >= .seconds(1) else { return false }
            checkedAt = now
            return true
        }
    }
}
