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
        var storage = Storage()
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

    /// Where the bytes go.
    ///
    /// The place is that of the machine's file. When the machine switches to another representation, there is none until
    /// the place of the file before has been set aside.
    struct Storage {
        private(set) var place: Place?
        /// The place of the file before, until it is set aside.
        private(set) var outgoing: Place?
        /// The newest part file, also one that was given up.
        private(set) var session: PartSession?
        /// The record of a part file that was given up before the run.
        private var earlier: JournalRecord?

        /// The part file that is written.
        var part: PartSession? { if case .part(let session)? = place { session } else { nil } }

        /// The existing file that is compared.
        var examined: ExistingFile? { if case .examined(let file)? = place { file.existing } else { nil } }

        /// The record of the newest part file. The events of the download go on in the next one.
        var lastRecord: JournalRecord? { session?.record ?? earlier }

        /// Takes what was there before the run.
        mutating func prepared(_ place: Place?, _ record: JournalRecord?) {
            earlier = record
            set(place)
        }

        /// The machine has switched to another representation.
        mutating func leave() {
            outgoing = place ?? outgoing
            place = nil
        }

        /// The new file has this place, or needs none.
        mutating func set(_ place: Place?) {
            (self.place, outgoing) = (place, nil)
            if case .part(let session)? = place { self.session = session }
        }

        /// The bytes have moved from memory to a part file.
        mutating func moved(_ memory: MemorySink, to session: PartSession) {
            self.session = session
            if place?.sink === memory { place = .part(session) }
            if outgoing?.sink === memory { outgoing = .part(session) }
        }
    }

    /// The name of the file, and what it replaces.
    struct Placement {
        /// The file's name, final or expected.
        var name: String
        /// The object that the file becomes; `nil` if it stays a file, or that is not known yet.
        var object: DownloadURL?
        var tags: JournalTags?
        var backup = Prepared.Backup.none
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

        /// Takes what was there before the run.
        mutating func take(_ prepared: Prepared) {
            name = prepared.name
            (backup, emptyHalf) = (prepared.backup, prepared.emptyHalf)
        }
    }

    /// The finished file.
    struct Finished {
        /// The file that existed already and satisfies the request.
        var existing: FinishedDownload?
        /// The file about which the server is asked.
        var earlier: Prepared.EarlierFile?
        /// The file with the final name was never synced, and the system has rebooted since.
        var isDistrusted = false
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
        mutating func mends(_ error: FileError, ofPart: Bool) -> Bool {
            switch mending {
            case .due: return true
            case .done: return false
            case .unneeded:
                guard error.kind == .io, ofPart else { return false }
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
