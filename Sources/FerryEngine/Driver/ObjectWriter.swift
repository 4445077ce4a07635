import FerryCore

/// Stores a complete file as an object.
///
/// ```
/// below 8 MiB: PutObject ─────────────────────────────────────────────┐ exists? with the same content: done
/// else: upload recorded? ─► ListParts ─► missing parts ─► complete ───┴─► else the conflict rule
/// ```
/// An object becomes visible when it is complete. It replaces another object only under the rule `overwrite`, and if that object
/// is known, only in its known state; the store checks both conditions. If a response was lost, the checksum of the object shows
/// whether the request has succeeded.
struct ObjectWriter: Sendable {
    /// The maximum number of parts that are sent at the same time.
    static let parallelParts = 4
    /// The maximum number of names that are tried under the rule `rename`.
    private static let mostNames = 1000

    /// A stored object and its properties.
    struct Made: Sendable {
        var object: DownloadURL
        /// The ETag that the store sent.
        var etag: String?
        /// Whether the object already existed, and the rule is to keep it.
        var isSkipped = false
        /// Whether the recorded multipart upload has become the object, by this run or an earlier one.
        var isRecordedUpload = false
        var bytes: ByteCount
    }

    let request: DownloadRequest
    let store: ObjectStore
    /// Returns the most recently recorded upload.
    let noted: @Sendable () -> JournalRecord.Upload?
    /// Records an upload before its first part is sent, so that it can be continued, or `nil` after its end.
    let note: @Sendable (JournalRecord.Upload?) async throws(DownloadError) -> Void
    let report: @Sendable (Reason) -> Void

    /// Stores the content as the wanted object or, under the rule `rename`, under a numbered key if the wanted key is taken.
    func write(
        _ source: UploadSource, _ plan: S3UploadPlan, as wanted: DownloadURL
    ) async throws(DownloadError) -> Made {
        for number in 0..<Self.mostNames {
            let object = number == 0 ? wanted : numbered(wanted, number)
            let outcome: ObjectStore.Outcome
            var isRecordedUpload = false
            if plan.totalBytes < S3UploadPlan.leastBytes {
                outcome = try await put(source, as: object)
            } else {
                (outcome, isRecordedUpload) = try await putParts(of: source, plan, as: object)
            }
            switch outcome {
            case .stored(let etag):
                return Made(object: object, etag: etag, isRecordedUpload: isRecordedUpload, bytes: plan.totalBytes)
            case .exists: break
            case .gone:
                // Another client has ended the upload.
                throw DownloadError(
                    .network, ErrorPhrase(.uploadUnknown, object.text), recovery: .transient(retryAfter: nil))
            }
            switch request.onConflict {
            case .rename: continue
            case .skip:
                report(Reason(.skipped, object.text))
                let found = try await store.status(of: object)
                return Made(
                    object: object, etag: found?.etag, isSkipped: true, bytes: found?.bytes ?? plan.totalBytes)
            case .overwrite:
                throw DownloadError(.conflict, ErrorPhrase(.objectChanged, object.text), recovery: .needsUser)
            case .fail:
                throw DownloadError(.conflict, ErrorPhrase(.thereAlready, object.text), recovery: .needsUser)
            }
        }
        throw DownloadError(.conflict, ErrorPhrase(.noFreeName, wanted.text), recovery: .needsUser)
    }

    /// The object with a number in the last component of its key, used if the wanted key is taken.
    private func numbered(_ object: DownloadURL, _ number: Int) -> DownloadURL {
        var key = object.objectKey
        let slash = key.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = SafeName.numbered(String(decoding: key[slash...], as: UTF8.self), number)
        key.replaceSubrange(slash..., with: name.utf8)
        return DownloadURL(bucket: object.host, key: key) ?? object
    }

    private func put(_ source: UploadSource, as object: DownloadURL) async throws(DownloadError) -> ObjectStore.Outcome
    {
        try await endNoted()
        let all = 0..<source.totalBytes
        let digests = try await source.digests(all)
        // The store compares the received bytes with these digests.
        try await source.check()
        let outcome = try await store.put(source.content(all, digests), base64: digests.base64, as: object)
        guard outcome == .exists || needsTag(outcome) else { return outcome }
        let etag = "\"\(HexText.string(digests.md5))\""
        return try await found(object, source.totalBytes, digests.base64, etag: etag) ?? outcome
    }

    /// Returns the object if it has this content; `nil` if it does not exist. Throws `conflict` if it has different content.
    func present(
        _ source: UploadSource, _ plan: S3UploadPlan, as object: DownloadURL
    ) async throws(DownloadError) -> Made? {
        guard let there = try await store.status(of: object) else { return nil }
        var outcome: ObjectStore.Outcome?
        if there.bytes == source.totalBytes {
            if plan.totalBytes < S3UploadPlan.leastBytes {
                let digests = try await source.digests(0..<source.totalBytes)
                let etag = "\"\(HexText.string(digests.md5))\""
                outcome = try await found(object, source.totalBytes, digests.base64, etag: etag)
            } else {
                let parts = try await parts(of: source, plan)
                outcome = try await found(object, parts)
            }
        }
        guard case .stored(let etag)? = outcome else {
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, object.text), recovery: .needsUser)
        }
        try await source.check()
        try await endNoted()
        return Made(object: object, etag: etag, bytes: plan.totalBytes)
    }

    /// Aborts a multipart upload that is not continued. It stays recorded if the store does not abort it.
    func endNoted() async throws(DownloadError) {
        guard let upload = noted(), let id = upload.id, let object = try? DownloadURL(upload.object) else { return }
        if await store.abort(object, id) { try await note(nil) }
    }

    /// Whether the store has sent no ETag, without which a known object cannot be recognized later.
    private func needsTag(_ outcome: ObjectStore.Outcome) -> Bool {
        outcome == .stored(etag: nil) && request.knownObject != nil
    }

    /// Returns `stored` if an object has this content, because a response was lost or an earlier run has stored it.
    private func found(
        _ object: DownloadURL, _ bytes: ByteCount, _ checksum: String, etag: String?
    ) async throws(DownloadError) -> ObjectStore.Outcome? {
        guard let found = try await store.status(of: object), found.bytes == bytes else { return nil }
        let isSame: Bool =
            if let known = found.checksum {
                // Some stores omit the number of parts.
                known == checksum || checksum.utf8.hasPrefix(known + "-")
            } else { etag != nil && found.etag == etag }
        return isSame ? .stored(etag: found.etag) : nil
    }

    // MARK: Several parts

    /// Returns the outcome, and whether the object was made by the recorded upload.
    private func putParts(
        of source: UploadSource, _ plan: S3UploadPlan, as object: DownloadURL
    ) async throws(DownloadError) -> (outcome: ObjectStore.Outcome, isRecordedUpload: Bool) {
        var id = noted().flatMap { $0.object == object.text ? $0.id : nil }
        var there: [Int: S3Part] = [:]
        if let known = id {
            if let parts = try await store.parts(object, known) {
                for part in parts { there[part.number] = part }
                report(Reason(.uploadResumed, object.text, "\(there.count)", "\(plan.count)"))
            } else {
                let sent = try await self.parts(of: source, plan)
                if let stored = try await found(object, sent) { return (stored, true) }
                id = nil
            }
        }
        if id == nil, request.onConflict != .overwrite, try await store.status(of: object) != nil {
            let sent = try await self.parts(of: source, plan)
            let stored = try await found(object, sent)
            return (stored ?? .exists, false)
        }
        let upload: String
        if let id { upload = id } else { upload = try await store.begin(object) }
        do throws(DownloadError) { try await note(JournalRecord.Upload(object: object.text, id: upload)) } catch {
            // Without the note, no later run could continue or abort the upload.
            if id == nil { await store.abort(object, upload) }
            throw error
        }
        var parts: [S3Part] = []
        var outcome = ObjectStore.Outcome.gone
        do throws(DownloadError) {
            parts = try await send(source, plan, of: object, upload, there: there)
            try await source.check()
            outcome = try await store.complete(parts, of: object, upload)
        } catch {
            guard error.phrase?.key == .uploadGone else { throw error }
            parts = try await self.parts(of: source, plan)
        }
        if case .stored = outcome, !needsTag(outcome) { return (outcome, true) }
        let stored = try await found(object, parts)
        if case .stored = outcome { return (stored ?? outcome, true) }
        // Aborted even if another client has stored the same content, because the parts would stay in the store.
        let hasEnded = outcome == .exists ? await store.abort(object, upload) : true
        if hasEnded { try await note(nil) }
        return (stored ?? outcome, outcome == .gone)
    }

    /// Returns `stored` if an object has the content of these parts.
    private func found(
        _ object: DownloadURL, _ parts: [S3Part]
    ) async throws(DownloadError) -> ObjectStore.Outcome? {
        let identity = MultipartIdentity(parts)
        return try await found(object, identity.bytes, identity.checksum, etag: identity.etag)
    }

    /// Returns the parts with the properties that the store would report.
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

    /// Sends the parts that the store does not have, several at the same time. Returns all parts in order.
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
            // A store without checksums uses the MD5 as the ETag.
            let isSame =
                part.checksum.map { $0 == digests.base64 }
                ?? (part.etag.asciiLowercased == "\"\(HexText.string(digests.md5))\"")
            part.checksum = digests.base64
            if isSame { return part }
        }
        return try await store.put(
            source.content(range, digests), base64: digests.base64, part: number, of: object, id)
    }
}
