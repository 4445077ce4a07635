import FerryCore

/// Publishing to a store: the finished file, in memory or in the part file, becomes an object.
///
/// ```
/// below 8 MiB: PutObject ──────────────────────────────────────────────┐ exists? of the same content: done
/// else: journal has an upload? ─► ListParts ─► missing parts ─► complete ─┴─► else the conflict rule
/// ```
/// An object is visible when it is whole, and replaces another only under the rule `overwrite`: the store checks both.
/// The journal has the upload before its first part is sent, so a killed process goes on with the parts that the store
/// has. The part file is removed after the store has answered that the object is there. Whether an answer that was lost
/// was a success, the checksum of the object decides.
extension DownloadDriver {
    /// The most parts that are sent at the same time.
    private static let parallelParts = 4
    /// The most names that are tried under the rule `rename`.
    private static let mostNames = 1000

    /// An object that is made, and what it is recognized by.
    private struct Made: Sendable {
        var object: DownloadURL
        /// Whether it was there before, and the rule is to keep it.
        var isSkipped = false
        var bytes: ByteCount
    }

    var store: ObjectStore { ObjectStore(request, environment, settings) }

    /// Applies the rules `fail` and `skip` to an existing object, before any byte of the body is read.
    func existing(_ object: DownloadURL) async throws(DownloadError) -> FinishedDownload? {
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

    /// Publishes the file as an object. Returns `nil` when the download was stopped before that.
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
        // Until here its bytes may be claimed by nothing.
        if transfer.part != nil { await checkpoint() }
        let made = try await untilStopped { () async throws(DownloadError) in
            try await self.store(source, plan, as: wanted)
        }
        guard let made else { return nil }
        try await files.run { [self] disk throws(DownloadError) in
            removeAside(disk)
            try forget(disk)
        }
        var finished = finished(path: made.object.text, total: made.bytes, proof: made.isSkipped ? .none : proof)
        finished.wasAlreadyComplete = made.isSkipped
        return finished
    }

    /// Ends the upload of a cancelled download, if the store answers at the first attempt.
    func abortUpload() async {
        guard let upload = transfer.lastRecord?.upload, let id = upload.id,
            let object = try? DownloadURL(upload.object)
        else { return }
        var brief = settings
        brief.maxAttempts = 0
        await ObjectStore(request, environment, brief).abort(object, id)
    }

    /// Returns the object that a file of this name becomes if its key is free; `nil` if it stays a file. That of the
    /// journal counts, if it is of this request: the name may be numbered among other part files.
    func wantedObject(named name: String) -> DownloadURL? {
        guard let wanted = request.uploadTo else { return nil }
        guard wanted.path.utf8.last == UInt8(ascii: "/") else { return wanted }
        let noted = transfer.lastRecord?.upload.flatMap { try? DownloadURL($0.object) }
        if let object = target.object ?? noted, object.host == wanted.host, object.path.utf8.hasPrefix(wanted.path) {
            return object
        }
        return wanted.appendingKey(name)
    }

    private func store(
        _ source: UploadSource, _ plan: S3UploadPlan, as wanted: DownloadURL
    ) async throws(DownloadError) -> Made {
        for number in 0..<Self.mostNames {
            let object = number == 0 ? wanted : numbered(wanted, number)
            let isWhole = plan.totalBytes < S3UploadPlan.leastBytes
            switch isWhole ? try await put(source, as: object) : try await putParts(of: source, plan, as: object) {
            case .stored: return Made(object: object, bytes: plan.totalBytes)
            case .exists: break
            case .gone:
                // Others have ended the upload.
                throw DownloadError(
                    .network, ErrorPhrase(.uploadUnknown, object.text), recovery: .transient(retryAfter: nil))
            }
            switch request.onConflict {
            case .rename: continue
            case .skip:
                report(.event(.note(Reason(.skipped, object.text))))
                let bytes = try await store.status(of: object)?.bytes ?? plan.totalBytes
                return Made(object: object, isSkipped: true, bytes: bytes)
            case .fail, .overwrite:
                throw DownloadError(.conflict, ErrorPhrase(.thereAlready, object.text), recovery: .needsUser)
            }
        }
        throw DownloadError(.conflict, ErrorPhrase(.noFreeName, wanted.text), recovery: .needsUser)
    }

    /// The object beside another one whose key ends with a numbered name.
    private func numbered(_ object: DownloadURL, _ number: Int) -> DownloadURL {
        var key = object.objectKey
        let slash = key.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = SafeName.numbered(String(decoding: key[slash...], as: UTF8.self), number)
        key.replaceSubrange(slash..., with: name.utf8)
        return DownloadURL(bucket: object.host, key: key) ?? object
    }

    private func put(_ source: UploadSource, as object: DownloadURL) async throws(DownloadError) -> ObjectStore.Outcome
    {
        let all = 0..<source.totalBytes
        let digests = try await source.digests(all)
        let outcome = try await store.put(source.content(all, digests), base64: digests.base64, as: object)
        guard outcome == .exists else { return outcome }
        let etag = "\"\(HexText.string(digests.md5))\""
        return try await isThere(object, source.totalBytes, digests.base64, etag: etag) ? .stored : .exists
    }

    /// Whether an object has this content: then an answer was lost, or an earlier run has made it.
    private func isThere(
        _ object: DownloadURL, _ bytes: ByteCount, _ checksum: String, etag: String?
    ) async throws(DownloadError) -> Bool {
        guard let found = try await store.status(of: object), found.bytes == bytes else { return false }
        // Some stores leave out the number of parts.
        if let known = found.checksum { return known == checksum || checksum.utf8.hasPrefix(known + "-") }
        return etag != nil && found.etag == etag
    }

    // MARK: Several parts

    private func putParts(
        of source: UploadSource, _ plan: S3UploadPlan, as object: DownloadURL
    ) async throws(DownloadError) -> ObjectStore.Outcome {
        var id = transfer.lastRecord?.upload.flatMap { $0.object == object.text ? $0.id : nil }
        var there: [Int: S3Part] = [:]
        if let known = id {
            if let parts = try await store.parts(object, known) {
                for part in parts { there[part.number] = part }
                report(.event(.note(Reason(.uploadResumed, object.text, "\(there.count)", "\(plan.count)"))))
            } else {
                let sent = try await parts(of: source, plan)
                if try await isThere(object, sent) { return .stored }
                id = nil
            }
        }
        if id == nil, request.onConflict != .overwrite, try await store.status(of: object) != nil {
            let sent = try await parts(of: source, plan)
            return try await isThere(object, sent) ? .stored : .exists
        }
        let upload: String
        if let id { upload = id } else { upload = try await store.begin(object) }
        try await note(JournalRecord.Upload(object: object.text, id: upload))
        var parts: [S3Part] = []
        var outcome = ObjectStore.Outcome.gone
        do throws(DownloadError) {
            parts = try await send(source, plan, of: object, upload, there: there)
            outcome = try await store.complete(parts, of: object, upload)
        } catch {
            guard error.phrase?.key == .uploadGone else { throw error }
            parts = try await self.parts(of: source, plan)
        }
        if outcome == .stored { return .stored }
        if try await isThere(object, parts) { return .stored }
        if outcome == .exists { await store.abort(object, upload) }
        try await note(nil)
        return outcome
    }

    /// Whether an object has the content of these parts.
    private func isThere(_ object: DownloadURL, _ parts: [S3Part]) async throws(DownloadError) -> Bool {
        let identity = MultipartIdentity(parts)
        return try await isThere(object, identity.bytes, identity.checksum, etag: identity.etag)
    }

    /// Returns the parts as the store would have them.
    private func parts(of source: UploadSource, _ plan: S3UploadPlan) async throws(DownloadError) -> [S3Part] {
        var parts: [S3Part] = []
        for number in 1...plan.count {
            let range = plan.range(of: number)
            let digests = try await source.digests(range)
            parts.append(
                S3Part(
                    number: number, bytes: range.upperBound - range.lowerBound,
                    etag: "\"\(HexText.string(digests.md5))\"", checksum: digests.base64))
        }
        return parts
    }

    /// Sends the parts that the store has not, some at the same time. Returns all of them, in order.
    private func send(
        _ source: UploadSource, _ plan: S3UploadPlan, of object: DownloadURL, _ id: String, there: [Int: S3Part]
    ) async throws(DownloadError) -> [S3Part] {
        let result = await withTaskGroup(of: Result<S3Part, DownloadError>.self) { group in
            var next = 1
            func start() {
                guard next <= plan.count else { return }
                let number = next
                next += 1
                group.addTask {
                    do throws(DownloadError) {
                        return .success(
                            try await self.send(
                                number, of: source, plan, of: object, id, there: there[number]))
                    } catch { return .failure(error) }
                }
            }
            for _ in 0..<min(Self.parallelParts, max(1, request.maxConnections)) { start() }
            var parts: [S3Part] = []
            var failure: DownloadError?
            for await result in group {
                switch result {
                case .success(let part): parts.append(part)
                case .failure(let error):
                    failure = failure ?? error
                    group.cancelAll()
                }
                if failure == nil { start() }
            }
            return failure.map { .failure($0) } ?? Result<[S3Part], DownloadError>.success(parts)
        }
        return try result.get().sorted { $0.number < $1.number }
    }

    private func send(
        _ number: Int, of source: UploadSource, _ plan: S3UploadPlan, of object: DownloadURL, _ id: String,
        there: S3Part?
    ) async throws(DownloadError) -> S3Part {
        let range = plan.range(of: number)
        let digests = try await source.digests(range)
        if var part = there, part.bytes == range.upperBound - range.lowerBound {
            // A store that keeps no checksum has the MD5 as the tag.
            let isSame =
                part.checksum.map { $0 == digests.base64 }
                ?? (part.etag.asciiLowercased == "\"\(HexText.string(digests.md5))\"")
            part.checksum = digests.base64
            if isSame { return part }
        }
        return try await store.put(
            source.content(range, digests), base64: digests.base64, part: number, of: object, id)
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

    /// Runs `body`, which is cancelled when the download is to be stopped. Returns `nil` then.
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
