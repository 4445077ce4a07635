import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// Publishing to a store: the finished file, in memory or in the part file, becomes an object (``ObjectWriter``).
///
/// The journal records the upload before its first part is sent, so that a run after a killed process continues with the parts that
/// the store has. The part file is removed after the store has confirmed that the object exists.
extension DownloadDriver {
    var store: ObjectStore {
        ObjectStore(request, environment, settings, limits: UploadLimits(throttle, context.throttle, environment))
    }

    /// Applies the rules `fail` and `skip` to an existing object, before any byte of the body is read. For a known object, checks
    /// only that it has the size and the digest of the file.
    func existing(_ object: DownloadURL) async throws(DownloadError) -> FinishedDownload? {
        if let known = request.knownObject {
            let wanted = transfer.digest.requested.flatMap { $0.algorithm == .sha256 ? $0 : nil }
            guard known.mayHaveContent, wanted != nil || request.expectedBytes != nil,
                let found = try await store.status(of: object), let bytes = found.bytes
            else { return nil }
            let digest = wanted.map { Data($0.bytes).base64EncodedString() }
            guard let wanted, let digest, found.checksum == digest else {
                // The checksum of a larger object may be composed of the checksums of its parts, even without their number.
                let isOfWhole =
                    bytes < S3UploadPlan.leastBytes && found.checksum?.utf8.contains(UInt8(ascii: "-")) == false
                guard request.expectedBytes ?? bytes == bytes, digest == nil || !isOfWhole else {
                    throw DownloadError(.conflict, ErrorPhrase(.thereAlready, object.text), recovery: .needsUser)
                }
                return nil
            }
            var file = finished(path: object.text, total: bytes, proof: .digest)
            (file.wasAlreadyComplete, file.checksum, file.storedETag) = (true, wanted, found.etag)
            return file
        }
        guard request.onConflict == .fail || request.onConflict == .skip, let found = try await store.status(of: object)
        else { return nil }
        guard request.onConflict == .skip else {
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, object.text), recovery: .needsUser)
        }
        report(.event(.note(Reason(.skipped, object.text))))
        return FinishedDownload(
            path: object.text, totalBytes: found.bytes ?? 0, proof: .none, wasAlreadyComplete: true,
            redactedFinalURL: transfer.facts.finalURL)
    }

    /// Publishes the file as an object. Returns `nil` if the download was stopped before that.
    func upload(
        _ source: UploadSource, total: ByteCount, proof: Proof
    ) async throws(DownloadError) -> FinishedDownload? {
        let name = target.name
        guard let plan = S3UploadPlan(totalBytes: total), let wanted = wantedObject(named: name) else {
            throw DownloadError(
                .tooLarge, ErrorPhrase(.largeObject, "\(request.uploadTo?.redacted ?? "")", ByteText.size(total)),
                recovery: .needsUser)
        }
        report(.event(.note(Reason(.uploading, wanted.text))))
        // The journal may not claim all of these bytes yet.
        if transfer.part != nil { await checkpoint() }
        let writer = ObjectWriter(
            request: request, store: store, noted: { [transfer] in transfer.lastRecord?.upload },
            note: { [self] upload throws(DownloadError) in try await note(upload) },
            report: { [self] reason in report(.event(.note(reason))) })
        let made = try await untilStopped { () async throws(DownloadError) in
            try await writer.write(source, plan, as: wanted)
        }
        guard let made else { return nil }
        try await files.run { [self] disk throws(DownloadError) in
            removeAside(disk)
            try forget(disk)
        }
        var finished = finished(path: made.object.text, total: made.bytes, proof: made.isSkipped ? .none : proof)
        (finished.wasAlreadyComplete, finished.storedETag) = (made.isSkipped, made.etag)
        return finished
    }

    /// Aborts the upload of a cancelled download, if the store answers the first attempt.
    func abortUpload() async {
        guard let upload = transfer.lastRecord?.upload, let id = upload.id,
            let object = try? DownloadURL(upload.object)
        else { return }
        var brief = settings
        brief.maxRetries = 0
        await ObjectStore(request, environment, brief).abort(object, id)
    }

    /// Returns the object that a file of this name becomes if its key is free; `nil` if the file is not uploaded. The object in the
    /// journal takes precedence if it belongs to this request, because other part files may have given the name a number.
    func wantedObject(named name: String) -> DownloadURL? {
        guard let wanted = request.uploadTo else { return nil }
        guard wanted.path.utf8.last == UInt8(ascii: "/") else { return wanted }
        let noted = transfer.lastRecord?.upload.flatMap { try? DownloadURL($0.object) }
        if let object = target.object ?? noted, object.host == wanted.host, object.path.utf8.hasPrefix(wanted.path) {
            return object
        }
        return wanted.appendingKey(name)
    }

    /// Writes the upload into the journal.
    private func note(_ upload: JournalRecord.Upload?) async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        let (place, statement) = transfer.statement
        guard case .part(let session)? = place else { return }
        let upload = upload ?? target.object.map { JournalRecord.Upload(object: $0.text, id: nil) }
        try await files.run { disk throws(DownloadError) in try session.note(upload, statement, disk) }
    }

    /// Runs `body`, which is cancelled when the download is stopped; returns `nil` in that case.
    private func untilStopped<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(DownloadError) -> Value
    ) async throws(DownloadError) -> Value? {
        let result = await withTaskGroup(of: Result<Value, DownloadError>?.self) { group in
            group.addTask {
                do throws(DownloadError) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                while !Task.isCancelled {
                    let seen = self.updates.count
                    if self.transfer.stop != nil { break }
                    await self.updates.wait(after: seen)
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if transfer.stop != nil, case .failure? = result { return nil }
        return try result?.get()
    }
}
