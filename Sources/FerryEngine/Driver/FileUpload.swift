package import FerryCore
import Synchronization
package import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Uploads a local file as an object, directly from where it is.
///
/// ```
/// open, status ─► the recorded bytes? the object's bytes? ─► ObjectWriter ─► status again ─► the object becomes visible
///                                                                 digest of the whole, beside it
/// ```
/// An object contains a single state of the file: after its bytes have been read, and before the store creates the object, the
/// size and modification time of the open file must be unchanged. Otherwise the file is read again, up to ``maxAttempts`` times
/// in total, and then reported as changed. The store compares the received bytes with the digests of the bytes that were read.
///
/// The path may lead to anything by the time it is opened: no link below ``root`` is followed, and only a regular file is read.
package struct FileUpload: Sendable {
    /// A stored file.
    package struct Stored: Sendable {
        /// Its ``FinishedDownload/path`` is the URL of the object; nothing was received.
        package var file: FinishedDownload
        /// The modification time of the file whose bytes the object contains; `nil` if the file is so recent that a later change
        /// may leave its time unchanged.
        package var modified: FileTime?
        /// The identifier of a multipart upload that is not continued and that the store has not aborted; `nil` if there is
        /// none.
        package var openUpload: String?
    }

    /// The maximum number of attempts at a file that changes while it is read.
    private static let maxAttempts = 2
    /// Smaller files are read once, into memory.
    private static let memoryBytes: ByteCount = 1 << 20
    /// The number of bytes that are read for the digest at a time.
    private static let pieceBytes: ByteCount = 16 << 20
    /// A file that was written less than this many seconds ago may be written again without a change of its time, because the
    /// coarsest file systems store multiples of two seconds.
    private static let restTime = 2.0

    /// The absolute path of the file.
    package let path: FilePath
    /// The directory that contains the file, directly or indirectly.
    package let root: FilePath
    /// The request. Its ``DownloadRequest/uploadTo`` is the object; its conflict rule and known object apply.
    package let request: DownloadRequest
    /// The digest of the existing object, if it has the file's size: a file with this digest is not stored again.
    package let recorded: Checksum?
    package let store: ObjectStore
    package let environment: EngineEnvironment
    /// Receives the identifier of a multipart upload before its first part is sent, or `nil` after the upload has ended.
    package let note: @Sendable (_ id: String?) async throws(DownloadError) -> Void
    /// Called with the number of bytes each time some are sent.
    package let sent: @Sendable (ByteCount) -> Void
    package let report: @Sendable (Reason) -> Void
    private let noted: NotedUpload

    /// - Parameter begun: The identifier of a multipart upload that an earlier run has recorded; `nil` for none.
    package init(
        _ path: FilePath, below root: FilePath, _ request: DownloadRequest, recorded: Checksum?, _ store: ObjectStore,
        _ environment: EngineEnvironment, begun: String?,
        note: @escaping @Sendable (_ id: String?) async throws(DownloadError) -> Void,
        sent: @escaping @Sendable (ByteCount) -> Void, report: @escaping @Sendable (Reason) -> Void
    ) {
        (self.path, self.root, self.request, self.recorded) = (path, root, request, recorded)
        (self.store, self.environment) = (store, environment)
        (self.note, self.sent, self.report) = (note, sent, report)
        let object = request.uploadTo?.text ?? ""
        noted = NotedUpload(begun.map { JournalRecord.Upload(object: object, id: $0) })
    }

    /// Stores the file, unless the object already has the same bytes.
    ///
    /// Throws `disk` if the file cannot be read, `conflict` if it keeps changing or an existing object must not be replaced, and
    /// the errors of the store.
    package func run() async throws(DownloadError) -> Stored {
        var attempt = 1
        while true {
            do throws(DownloadError) { return try await open() } catch {
                guard error.phrase?.key == .sourceChanged, attempt < Self.maxAttempts else { throw error }
            }
            attempt += 1
        }
    }

    private func open() async throws(DownloadError) -> Stored {
        // Read before the status, so that the age of the file is not overestimated.
        let now = environment.clock.date()
        let opened: (file: any File, status: FileStatus)
        do throws(FileError) {
            opened = try await files.run { [self] disk throws(FileError) in
                let file = try disk.fileSystem.openAnyones(path)
                do throws(FileError) { return (file, try file.status()) } catch {
                    file.close()
                    throw error
                }
            }
        } catch { throw DownloadError(error) }
        let reading = Reading(opened.file, opened.status, files)
        let outcome: Result<Stored, DownloadError>
        do throws(DownloadError) { outcome = .success(try await store(reading, at: now)) } catch {
            outcome = .failure(error)
        }
        // An error is meaningless if the file has changed meanwhile.
        let isUnchanged = await reading.isUnchanged()
        files.close(opened.file)
        if case .failure(let error) = outcome, error.code != .cancelled, !isUnchanged { throw changed }
        return try outcome.get()
    }

    private var files: FileIO { environment.files.confined(to: root.string) }

    private var changed: DownloadError {
        DownloadError(
            .conflict, ErrorPhrase(.sourceChanged, path.string), suggestion: ErrorPhrase(.syncWhenQuiet),
            recovery: .needsUser)
    }

    private func store(_ reading: Reading, at now: Date) async throws(DownloadError) -> Stored {
        let total = reading.before.length
        guard let plan = S3UploadPlan(totalBytes: total), let object = request.uploadTo else {
            throw DownloadError(
                .tooLarge, ErrorPhrase(.largeObject, path.string, ByteText.size(total)), recovery: .needsUser)
        }
        func stored(_ made: ObjectWriter.Made, _ digest: [UInt8], isThere: Bool = false) -> Stored {
            var file = FinishedDownload(
                path: made.object.text, totalBytes: total, proof: .digest, wasAlreadyComplete: isThere)
            (file.checksum, file.storedETag) = (Checksum(algorithm: .sha256, bytes: digest), made.etag)
            let age = now.timeIntervalSince1970 - reading.before.modified.secondsSince1970
            return Stored(
                file: file, modified: age >= Self.restTime ? reading.before.modified : nil,
                openUpload: made.isRecordedUpload ? nil : noted.value?.id)
        }
        let whole = WholeDigest()
        let watch = UploadSource.Watch(
            sent: sent,
            check: { [self] () throws(DownloadError) in
                _ = try await whole.value()
                guard await reading.isUnchanged() else { throw changed }
                whole.check()
            })
        let source: UploadSource
        if total < Self.memoryBytes {
            let bytes = try await reading.bytes()
            source = UploadSource(bytes, watch)
            whole.end(.success(ByteDigest.of(bytes, .sha256)))
        } else {
            source = UploadSource(reading.file, totalBytes: total, files, watch)
        }
        let writer = ObjectWriter(
            request: request, store: store, noted: { [noted] in noted.value },
            note: { [noted, note] upload throws(DownloadError) in
                try await note(upload?.id)
                noted.value = upload
            }, report: report)
        if let recorded {
            await digest(reading, whole)
            let bytes = try await whole.value()
            if recorded == Checksum(algorithm: .sha256, bytes: bytes) {
                try await source.check()
                try await writer.endNoted()
                let made = ObjectWriter.Made(object: object, etag: request.knownObject?.etag, bytes: total)
                return stored(made, bytes, isThere: true)
            }
        }
        let isThere = request.knownObject?.mayHaveContent == true
        let (made, bytes) = try await beside(reading, whole) { () async throws(DownloadError) in
            let present = isThere ? try await writer.present(source, plan, as: object) : nil
            if let present { return (present, true) }
            let made = try await writer.write(source, plan, as: object)
            return (made, false)
        }
        if !whole.isChecked { try await source.check() }
        return stored(made.0, bytes, isThere: made.1)
    }

    /// Runs `body` while the digest of the whole file is computed. Returns both results.
    private func beside<Value: Sendable>(
        _ reading: Reading, _ whole: WholeDigest, _ body: @escaping @Sendable () async throws(DownloadError) -> Value
    ) async throws(DownloadError) -> (Value, [UInt8]) {
        let result = await withTaskGroup(of: Result<Value, DownloadError>?.self) { group in
            group.addTask {
                await self.digest(reading, whole)
                return nil
            }
            group.addTask {
                do throws(DownloadError) { return .success(try await body()) } catch { return .failure(error) }
            }
            var result: Result<Value, DownloadError>?
            for await one in group {
                guard let one else { continue }
                result = one
                if case .failure = one { group.cancelAll() }
            }
            return result
        }
        guard let result else { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
        let value = try result.get()
        let digest = try await whole.value()
        return (value, digest)
    }

    /// Computes the digest of the whole file, unless it is known.
    private func digest(_ reading: Reading, _ whole: WholeDigest) async {
        guard !whole.hasEnded else { return }
        var digest = PrefixDigest(.sha256, of: reading.file)
        let total = reading.before.length
        while digest.position < total {
            if Task.isCancelled { return whole.end(.failure(DownloadError(.cancelled, ErrorPhrase(.stopped)))) }
            do throws(FileError) {
                digest = try await files.run { [digest] _ throws(FileError) in
                    var digest = digest
                    try digest.advance(to: min(total, digest.position + Self.pieceBytes))
                    return digest
                }
            } catch { return whole.end(.failure(DownloadError(error))) }
        }
        whole.end(.success(digest.finish()))
    }
}

/// An open file, and its status before it was read.
private struct Reading: Sendable {
    let file: any File
    let before: FileStatus
    private let files: FileIO

    init(_ file: any File, _ before: FileStatus, _ files: FileIO) {
        (self.file, self.before, self.files) = (file, before, files)
    }

    /// Returns whether the file has the same size and modification time as in ``before``.
    func isUnchanged() async -> Bool {
        let now = await files.run { [file] _ in try? file.status() }
        return now.map { $0.length == before.length && $0.modified == before.modified } ?? false
    }

    /// The bytes of a small file.
    func bytes() async throws(DownloadError) -> [UInt8] {
        do throws(FileError) {
            return try await files.run { [file, before] _ throws(FileError) in try file.read(0..<before.length) }
        } catch { throw DownloadError(error) }
    }
}

/// The digest of a whole file, computed during its upload.
private final class WholeDigest: Sendable {
    private let state = Mutex<(result: Result<[UInt8], DownloadError>?, isChecked: Bool)>((nil, false))
    private let ended = AsyncEvent()

    var hasEnded: Bool { state.withLock { $0.result != nil } }
    /// Whether the file was found unchanged after the digest had been computed.
    var isChecked: Bool { state.withLock(\.isChecked) }

    func check() { state.withLock { $0.isChecked = true } }

    func end(_ result: Result<[UInt8], DownloadError>) {
        state.withLock { $0.result = result }
        ended.notify()
    }

    /// Waits for the digest and returns it.
    func value() async throws(DownloadError) -> [UInt8] {
        while true {
            let seen = ended.count
            if let result = state.withLock({ $0.result }) { return try result.get() }
            if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
            await ended.wait(after: seen)
        }
    }
}
