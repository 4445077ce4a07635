package import FerryCore
import HTTPTypes
import NIOCore
import SystemPackage

/// Downloads a small file with one request, without a run: without a machine, a part file, a journal or timers.
///
/// ```
/// no file, part file or journal has the name ─► request ─► plain response ─► body, in memory ─► publish
///        │                  a file of this URL ─► conditional request ─► 304
///        └─► begun, taken: nil                       └─► anything else: FirstExchange
/// ```
/// It makes none of the decisions of ``TransferMachine``. Everything that needs one is left to a run: another file with the name,
/// a large file, a page, a digest of the server, a failure. The run continues with the response or the failure.
package struct SmallFetch: Sendable {
    package enum Outcome: Sendable {
        /// The download is complete. `notes`: what the events of a run would state about the publication.
        case finished(FinishedDownload, notes: [Reason])
        /// A run must perform the download, with the exchange if there was one.
        case needsRun(FirstExchange?)
    }

    /// What the disk has for the download.
    private struct Local: Sendable {
        var final: FilePath
        /// The finished file that the server is asked about.
        var earlier: Prepared.EarlierFile?
        /// Its validators.
        var unless: FileIdentity?
    }

    private let source: DownloadURL
    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let settings: DriverSettings
    private let own: OwnFiles
    private let files: FileIO

    /// Creates a fetch; `nil` if the request needs a run in any case.
    package init?(_ request: DownloadRequest, environment: EngineEnvironment, settings: DriverSettings) {
        guard let source = request.sources.first, request.sources.count == 1, request.uploadTo == nil,
            request.checksumList == nil, request.pieces == nil, request.keptCopy == nil, request.rateLimit == nil,
            request.onConflict != .skip, !environment.throttle.isLimited, !environment.book.limitsBytes
        else { return nil }
        var request = request
        switch request.destination {
        case .file, .directory:
            guard let resolved = try? request.destination.resolved() else { return nil }
            request.destination = resolved
        case .part, .stream: return nil
        }
        (self.source, self.request, self.environment) = (source, request, environment)
        self.settings = settings.with(request)
        own = OwnFiles(id: request.id ?? DownloadID(bits: 0), request: request, context: RunContext())
        files = environment.files.confined(to: request.root)
    }

    /// Returns the executor on which a task should start ``run(on:arrived:)``, for as few changes of the thread as possible.
    package func start(with loop: (any TaskExecutor)?) -> (any TaskExecutor)? {
        proven == nil ? files.executor : loop
    }

    /// Performs the fetch. Cancelling the task ends it with the failure of its body, or without an exchange.
    ///
    /// - Parameters:
    ///   - loop: The executor of the exchange. The rest is done on file threads.
    ///   - arrived: Called when the response head and each piece of the body arrive. The caller cancels a fetch that receives
    ///     nothing for too long after the head; before the head, ``DriverSettings/stallTimeout`` limits the time.
    package func run(on loop: (any TaskExecutor)?, arrived: () -> Void) async -> Outcome {
        let local: Local
        if let proven {
            local = proven
        } else {
            guard let found = await files.stay({ self.local($0.holdingRoots()) }) else { return .needsRun(nil) }
            local = found
        }
        switch await withTaskExecutorPreference(loop, operation: { await exchange(local, arrived) }) {
        case .end(let outcome): return outcome
        case .received(let received): return await files.stay { finish(received, local, $0.holdingRoots()) }
        }
    }

    // MARK: The disk

    /// The file whose validators the request has, because its sender has just compared the file with them; `nil` if it has none.
    private var proven: Local? {
        guard case .file(let path) = request.destination, request.checksum == nil, let known = request.knownValidators
        else { return nil }
        return Local(final: FilePath(ofRequest: path), unless: known)
    }

    /// Returns `nil` if the disk has anything that a run must examine.
    private func local(_ disk: Disk) -> Local? {
        var isNoted = false
        let search = JournalSearch(own, environment, name: request.expectedName) { _ in isNoted = true }
        guard case .nothing(let final)? = try? search.find(disk), !isNoted, let paths = DownloadPaths(final: final),
            (try? disk.fileSystem.exists(paths.oldJournal)) == false, own.copies(of: final, from: source, disk).isEmpty
        else { return nil }
        do throws(FileError) {
            guard try disk.fileSystem.statusIfPresent(final) != nil else { return Local(final: final) }
        } catch { return nil }
        guard request.checksum == nil else { return nil }
        let earlier = Prepared.EarlierFile(at: final, of: source, strict: request.trust.strict, disk)
        guard let unless = earlier?.identity ?? request.knownValidators else { return nil }
        // The digests of an unchanged file are recorded if they are missing, for which the file is read.
        if request.recordsDigests, earlier?.checksum == nil || unless.totalBytes ?? .max > PieceDigester.pieceBytes {
            return nil
        }
        return Local(final: final, earlier: earlier, unless: unless)
    }

    // MARK: The exchange

    private enum Answer {
        case received(Received)
        case end(Outcome)
    }

    /// A plain response with its whole body.
    private struct Received {
        var response: TransferResponse
        let representation: Representation
        let bytes: [UInt8]
        /// When the request was begun.
        let asked: Duration
    }

    private func exchange(_ local: Local, _ arrived: () -> Void) async -> Answer {
        var permit = ConnectionPermit(environment.hosts)
        // allow(origin): counts connections per host; carries no secret.
        guard await permit.take(source.origin) else { return .end(.needsRun(nil)) }
        defer { permit.leave() }
        var transferRequest = TransferRequest(of: request, from: source, headLimit: settings.stallTimeout)
        if let unless = local.unless { transferRequest.fields = HTTPFields(unless: unless) }
        transferRequest.admission = environment.book
        let asked = environment.clock.now()
        var response: TransferResponse
        do throws(TransferFailure) { response = try await environment.transport.fetch(transferRequest) } catch {
            switch error.kind {
            case .held, .cancelled: return .end(.needsRun(nil))
            default: return .end(.needsRun(FirstExchange(error, unless: local.unless)))
            }
        }
        arrived()
        // allow(origin): counts connections per host; carries no secret.
        guard permit.tryTake(response.url.origin) else {
            return .end(.needsRun(FirstExchange(response, unless: local.unless)))
        }
        let verdict = ResponseVerdict.judge(response.head, asked: .whole, now: environment.clock.date())
        if case .notModified = verdict, let unless = local.unless {
            environment.metrics.answered(response.head.status, after: environment.clock.now() - asked)
            return .end(.finished(unchanged(local, unless, response.url), notes: []))
        }
        guard local.unless == nil, case .whole(let representation) = verdict,
            let total = plainLength(of: representation),
            response.links == LinkField()
        else { return .end(.needsRun(FirstExchange(response, unless: local.unless))) }
        let receiving = environment.book.receive(from: response.url)
        defer { receiving.end() }
        do throws(TransferFailure) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(total))
            let start = environment.clock.now()
            // allow(body): the caller of the fetch watches its stalls.
            while let piece = try await response.body.next() {
                arrived()
                bytes.append(contentsOf: piece.readableBytesView)
                // A run stores the bytes of a slow file, so that a killed process does not lose them.
                guard bytes.count == total || environment.clock.now() - start < DownloadDriver.smallFilePatience else {
                    response.body.putBack([ByteBuffer(bytes: bytes)])
                    return .end(.needsRun(FirstExchange(response, unless: nil)))
                }
            }
            return .received(
                Received(response: response, representation: representation, bytes: bytes, asked: asked))
        } catch {
            // A fetch is cancelled because its body stalls, or because nobody needs it.
            let failure = error.kind == .cancelled ? TransferFailure(.broken, ErrorPhrase(.slowBody)) : error
            return .end(.needsRun(FirstExchange(failure, unless: nil)))
        }
    }

    /// The length of the body if a run would have nothing to decide about the response except its file name and type.
    private func plainLength(of representation: Representation) -> ByteCount? {
        guard let total = representation.bodyBytes, total < DownloadDriver.smallFileBytes, !representation.isEncoded,
            representation.digests.isEmpty, representation.messageDigests.isEmpty,
            request.expectedBytes ?? total == total, total <= request.maxBytes ?? total
        else { return nil }
        return total
    }

    private func unchanged(_ local: Local, _ unless: FileIdentity, _ url: DownloadURL) -> FinishedDownload {
        FinishedDownload(
            path: local.final.string, totalBytes: unless.totalBytes ?? 0,
            proof: unless.strongTag != nil ? .strong : .weak, wasAlreadyComplete: true, redactedFinalURL: url.redacted,
            etag: unless.etag, lastModified: unless.lastModified, checksum: local.earlier?.checksum)
    }

    // MARK: The file

    private func finish(_ received: Received, _ local: Local, _ disk: Disk) -> Outcome {
        if let (file, notes) = publish(received, local, disk) {
            let time = environment.clock.now() - received.asked
            environment.metrics.answered(received.response.head.status, after: time)
            environment.metrics.received(file.totalBytes)
            environment.metrics.completed(in: time)
            return .finished(file, notes: notes)
        }
        var again = received.response
        if !received.bytes.isEmpty { again.body.putBack([ByteBuffer(bytes: received.bytes)]) }
        return .needsRun(FirstExchange(again, unless: nil))
    }

    /// Verifies and publishes the file. Returns `nil` if a run must decide what to do with the bytes.
    private func publish(
        _ received: Received, _ local: Local, _ disk: Disk
    ) -> (finished: FinishedDownload, notes: [Reason])? {
        let (bytes, url) = (received.bytes, received.response.url)
        var judged = ResponseVerdict.whole(received.representation)
        // An object is always the content of its key.
        if !source.isObject {
            let beginsAPage =
                !request.trust.acceptsHTML && PagePolicy.mustLook(at: judged)
                && PageSniffer.judge(
                    Array(bytes.prefix(PageSniffer.mostBytes)), isWhole: bytes.count <= PageSniffer.mostBytes) == .page
            judged = PagePolicy(givenName: request.givenName).judge(
                judged, beginsAPage: beginsAPage, url: source, finalURL: url)
        }
        guard case .whole(let representation) = judged, !representation.isPromisedFile,
            let (directory, name) = request.wantedPlace(
                suggested: representation.suggestedName, url: source, finalURL: url),
            directory.appending(name) == local.final
        else { return nil }
        var recorded = request.checksum
        if let checksum = request.checksum {
            guard ByteDigest.of(bytes, checksum.algorithm) == checksum.bytes else { return nil }
        }
        if request.recordsDigests, recorded?.algorithm != .sha256 {
            recorded = Checksum(algorithm: .sha256, bytes: ByteDigest.of(bytes, .sha256))
        }
        let identity = representation.identity
        let order = PublishOrder(
            request, directory: directory, name: name, length: ByteCount(bytes.count), source: source, identity,
            isOfSource: true, checksum: recorded, replaces: nil, keepsTwin: false)
        let published: Published
        do {
            let space = DirectorySpace(directory, reserve: settings.minFreeBytes, fileSystem: disk.fileSystem)
            try space.require(order.length)
            let publisher = SmallFilePublisher(fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
            guard case .published(let file) = try publisher.publish(bytes, order) else { return nil }
            published = file
        } catch { return nil }
        if request.recordsDigests { DigestFile.remove(of: published.path, fileSystem: disk.fileSystem) }
        let finished = FinishedDownload(
            path: published.path.string, totalBytes: order.length, proof: request.checksum == nil ? .single : .digest,
            redactedFinalURL: url.redacted, contentType: identity.contentType, receivedBytes: order.length,
            etag: identity.etag, lastModified: identity.lastModified, checksum: recorded)
        return (finished, published.notes.map(\.reason))
    }
}

extension DownloadRequest {
    /// The name of the file as far as it is known before a response.
    var expectedName: String {
        if case .file(let path) = destination, let last = FilePath(path).lastComponent { return last.string }
        return sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? ""
    }

    /// The known validators, for a conditional request; `nil` if they prove too little.
    var knownValidators: FileIdentity? {
        guard let identity = knownIdentity, identity.strongTag != nil || !trust.strict && identity.hasValidator else {
            return nil
        }
        return identity
    }
}

extension HTTPFields {
    /// The fields of a conditional request for a file other than the one with these validators.
    init(unless identity: FileIdentity) {
        self.init()
        if let etag = identity.etag {
            self[.ifNoneMatch] = etag
        } else if let date = identity.lastModified {
            self[.ifModifiedSince] = date
        }
    }
}
