package import FerryCore
import HTTPTypes
package import NIOCore
import Synchronization

/// The most recently recorded multipart upload.
final class NotedUpload: Sendable {
    private let state: Mutex<JournalRecord.Upload?>

    init(_ upload: JournalRecord.Upload?) { state = Mutex(upload) }

    var value: JournalRecord.Upload? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The requests that store files as objects. Each is retried after a transient failure, like the requests of downloads.
package struct ObjectStore: Sendable {
    /// The properties of an object in a store.
    package struct Status: Sendable, Hashable {
        package var bytes: ByteCount?
        package var etag: String?
        /// The SHA-256 in Base64; for a multipart object the SHA-256 of its parts' digests, followed by their number.
        package var checksum: String?
    }

    /// The result of a request that creates an object.
    package enum Outcome: Sendable, Hashable {
        /// The object exists, with the ETag that the store sent; `nil` if it sent none.
        case stored(etag: String?)
        /// An object with this key exists and must not be replaced, or the object is not the known one.
        case exists
        /// The store does not know the upload: it was completed or aborted before.
        case gone
    }

    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let settings: DriverSettings
    private let limits: UploadLimits

    /// - Parameter limits: The rate limits of uploads; `nil` for the limit of the request and the limit over all downloads.
    package init(
        _ request: DownloadRequest, _ environment: EngineEnvironment, _ settings: DriverSettings,
        limits: UploadLimits? = nil
    ) {
        self.request = request
        self.environment = environment
        self.settings = settings
        self.limits =
            limits
            ?? UploadLimits(Throttle(rate: request.rateLimit, clock: environment.clock), nil, environment)
    }

    /// Returns the properties of an object; `nil` if it does not exist, or the keys do not permit the request. In the latter
    /// case, the store detects a conflict when the object is created.
    package func status(of object: DownloadURL) async throws(DownloadError) -> Status? {
        do throws(DownloadError) {
            return try await knownStatus(of: object)
        } catch {
            guard error.phrase?.key == .objectDenied else { throw error }
            return nil
        }
    }

    /// Returns the properties of an object; `nil` if it does not exist.
    private func knownStatus(of object: DownloadURL) async throws(DownloadError) -> Status? {
        do throws(DownloadError) {
            let head = try await send(.head, object, [.checksumMode: "ENABLED"]).head
            return Status(
                bytes: head.declaredLength, etag: head.objectTag, checksum: head.single(.checksumSHA256))
        } catch {
            guard error.phrase?.key == .noSuchObject else { throw error }
            return nil
        }
    }

    /// Stores the complete content of an object in one request.
    func put(_ content: UploadContent, base64: String, as object: DownloadURL) async throws(DownloadError) -> Outcome {
        var fields = mayReplace
        fields[.checksumAlgorithm] = "SHA256"
        fields[.checksumSHA256] = base64
        let head: ResponseHead
        do throws(DownloadError) { head = try await send(.put, object, fields, content).head } catch {
            if isGone(error) { return .exists }
            throw error
        }
        return head.status == 412 ? .exists : .stored(etag: head.objectTag)
    }

    /// Stores an open file as an object, in several parts if it is large. The file must not change meanwhile.
    ///
    /// - Parameters:
    ///   - replacing: The ETag of the object that may be replaced; `nil` if no object may exist.
    ///   - begun: The identifier of a multipart upload that an earlier call has noted; `nil` for none.
    ///   - note: Receives the identifier of a multipart upload before its first part is sent, or `nil` after its end.
    /// - Returns: The outcome, and the identifier of a multipart upload that is not continued and that the store has not
    ///   ended; `nil` for none.
    package func put(
        _ file: any File, totalBytes: ByteCount, as object: DownloadURL, replacing etag: String?, begun: String?,
        note: @escaping @Sendable (_ id: String?) async throws(DownloadError) -> Void
    ) async throws(DownloadError) -> (outcome: Outcome, openUpload: String?) {
        guard let plan = S3UploadPlan(totalBytes: totalBytes) else {
            throw DownloadError(
                .tooLarge, ErrorPhrase(.largeObject, object.text, ByteText.size(totalBytes)), recovery: .needsUser)
        }
        var request = request
        request.knownObject = KnownObject(etag: etag)
        request.onConflict = etag == nil ? .fail : .overwrite
        let noted = NotedUpload(begun.map { JournalRecord.Upload(object: object.text, id: $0) })
        let writer = ObjectWriter(
            request: request, store: ObjectStore(request, environment, settings, limits: limits),
            noted: { noted.value },
            note: { upload throws(DownloadError) in
                try await note(upload?.id)
                noted.value = upload
            }, report: { _ in })
        let source = UploadSource(file, totalBytes: totalBytes, environment.files, UploadSource.Watch())
        do throws(DownloadError) {
            let made = try await writer.write(source, plan, as: object)
            return (.stored(etag: made.etag), made.isRecordedUpload ? nil : noted.value?.id)
        } catch {
            guard [.thereAlready, .objectChanged].contains(error.phrase?.key) else { throw error }
            return (.exists, noted.value?.id)
        }
    }

    /// Streams the content of an object, from its start for each attempt.
    ///
    /// - Parameters:
    ///   - most: The maximum size that is read, in bytes.
    ///   - make: Returns the receiver of the content.
    ///   - take: Receives a piece, and returns whether more are wanted.
    /// - Returns: The receiver, the ETag, and whether the content was complete; `nil` if the object does not exist.
    package func read<Content: Sendable>(
        _ object: DownloadURL, most: Int, into make: () -> Content,
        _ take: @escaping @Sendable (Content, ByteBuffer) async -> Bool
    ) async throws(DownloadError) -> (content: Content, etag: String?, isWhole: Bool)? {
        do throws(DownloadError) {
            let answer = try await send(.get, object) { [environment] body throws(TransferFailure) in
                let content = make()
                let limits = ShortBody.Limits(bytes: most, whole: Self.mostTime)
                let isWhole = try await body.read(limits, clock: environment.clock) { await take(content, $0) }
                return (content, isWhole)
            }
            return answer.body.map { (content: $0.0, etag: answer.head.objectTag, isWhole: $0.1) }
        } catch {
            guard error.phrase?.key == .noSuchObject else { throw error }
            return nil
        }
    }

    /// Deletes an object if it still has this ETag. Returns whether it no longer exists.
    ///
    /// Not every store checks the condition of a deletion, so the ETag is requested first. Throws if the keys do not permit
    /// that: an object that was not checked is not deleted.
    package func delete(_ object: DownloadURL, ifMatch etag: String) async throws(DownloadError) -> Bool {
        guard let found = try await knownStatus(of: object) else { return true }
        guard let tag = EntityTag(etag), found.etag.flatMap({ EntityTag($0) }) == tag else { return false }
        do throws(DownloadError) { return try await send(.delete, object, [.ifMatch: etag]).head.status != 412 } catch {
            guard error.phrase?.key == .noSuchObject else { throw error }
            return true
        }
    }

    // MARK: Uploads of several parts

    /// Starts a multipart upload. Returns its identifier.
    func begin(_ object: DownloadURL) async throws(DownloadError) -> String {
        let fields: HTTPFields = [.multipartChecksumAlgorithm: "SHA256"]
        let answer = try await send(.post, object.with(query: [("uploads", "")]), fields)
        return try usable(object) { () throws(TextError) in try S3UploadDocument.identifier(answer.body) }
    }

    /// Returns the parts of an upload that the store has; none if the keys do not permit listing them, `nil` if the store does not
    /// know the upload.
    func parts(_ object: DownloadURL, _ id: String) async throws(DownloadError) -> [S3Part]? {
        var all: [S3Part] = []
        var marker: Int?
        repeat {
            var query = [(name: "uploadId", value: id), ("max-parts", "1000")]
            if let marker { query.append(("part-number-marker", "\(marker)")) }
            let body: [UInt8]
            do throws(DownloadError) { body = try await send(.get, object.with(query: query)).body } catch {
                switch error.phrase?.key {
                case .uploadGone, .noSuchObject: return nil
                case .objectDenied: return []
                default: throw error
                }
            }
            let page = try usable(object) { () throws(TextError) in try S3UploadDocument.parts(body) }
            all += page.parts
            // A listing whose numbers do not ascend might never end.
            guard page.next.map({ $0 > marker ?? 0 }) ?? true else { return all }
            marker = page.next
        } while marker != nil && all.count < S3UploadPlan.mostParts
        return all
    }

    /// Sends one part.
    func put(
        _ content: UploadContent, base64: String, part number: Int, of object: DownloadURL, _ id: String
    ) async throws(DownloadError) -> S3Part {
        let url = object.with(query: [("partNumber", "\(number)"), ("uploadId", id)])
        let fields: HTTPFields = [.checksumAlgorithm: "SHA256", .checksumSHA256: base64]
        let head = try await send(.put, url, fields, content).head
        guard let tag = head.single(.eTag).flatMap({ EntityTag($0) }) else {
            throw DownloadError(.refused, ErrorPhrase(.failedWith, "\(object)", ErrorPhrase(.unusableStoreAnswer)))
        }
        return S3Part(number: number, bytes: content.length, etag: tag.field, checksum: base64)
    }

    /// Creates the object from its parts, in order.
    func complete(_ parts: [S3Part], of object: DownloadURL, _ id: String) async throws(DownloadError) -> Outcome {
        let bytes = Array(S3UploadDocument.completion(parts).utf8)
        let content = UploadContent(bytes)
        var policy = RetryPolicy(maxRetries: settings.maxRetries)
        while true {
            let answer: (head: ResponseHead, body: [UInt8])
            do throws(DownloadError) {
                answer = try await send(.post, object.with(query: [("uploadId", id)]), mayReplace, content)
            } catch {
                if error.phrase?.key == .uploadGone { return .gone }
                if isGone(error) { return .exists }
                throw error
            }
            if answer.head.status == 412 { return .exists }
            if S3UploadDocument.isComplete(answer.body) {
                return .stored(etag: S3UploadDocument.completedTag(answer.body))
            }
            // The status was sent before the outcome was known, so the error is in the body.
            let failure = S3Failure(ResponseHead(status: 500), body: answer.body)
            if failure.code == "NoSuchUpload" { return .gone }
            if failure.code == "PreconditionFailed" { return .exists }
            try await pause(&policy, .phrase(failure.phrase(of: object, isSigned: true)))
        }
    }

    /// Aborts an upload and removes its parts. Returns whether it has ended: `false` if the store refuses or does not respond.
    @discardableResult
    package func abort(_ object: DownloadURL, _ id: String) async -> Bool {
        do throws(DownloadError) {
            return (200...299).contains(try await send(.delete, object.with(query: [("uploadId", id)])).head.status)
        } catch { return [.uploadGone, .noSuchObject].contains(error.phrase?.key) }
    }

    // MARK: Requests

    /// Whether the known object that was to be replaced has been deleted meanwhile.
    private func isGone(_ error: DownloadError) -> Bool {
        request.knownObject?.etag != nil && error.phrase?.key == .noSuchObject
    }

    private var mayReplace: HTTPFields {
        if let etag = request.knownObject?.etag { return [.ifMatch: etag] }
        return request.onConflict == .overwrite && request.knownObject == nil ? HTTPFields() : [.ifNoneMatch: "*"]
    }

    private func usable<Value>(
        _ object: DownloadURL, _ read: () throws(TextError) -> Value
    ) throws(DownloadError) -> Value {
        do throws(TextError) { return try read() } catch {
            throw DownloadError(.refused, ErrorPhrase(.failedWith, "\(object)", error.whole))
        }
    }

    /// The lowest upload speed for which the time limit of a request suffices, in bytes per second.
    private static let leastSpeed: ByteCount = 16 << 10

    /// The maximum time for the body of a response: a store sends spaces until it has joined the parts.
    private static let mostTime = Duration.seconds(1800)

    /// Sends a request until the store has decided: the request succeeds, or its condition does not hold.
    private func send(
        _ method: HTTPRequest.Method, _ url: DownloadURL, _ fields: HTTPFields = HTTPFields(),
        _ content: UploadContent? = nil
    ) async throws(DownloadError) -> (head: ResponseHead, body: [UInt8]) {
        let answer = try await send(method, url, fields, content) { [environment] body throws(TransferFailure) in
            let limits = ShortBody.Limits(bytes: S3UploadDocument.mostBytes, whole: Self.mostTime)
            return Array(buffer: try await body.collect(limits, clock: environment.clock).bytes)
        }
        return (answer.head, answer.body ?? [])
    }

    /// Sends a request like the method above, and reads the body of the response with `read`.
    ///
    /// - Parameter read: Reads the body of a success, once for each attempt.
    /// - Returns: The head, and the result of `read`; `nil` if the condition does not hold.
    private func send<Body: Sendable>(
        _ method: HTTPRequest.Method, _ url: DownloadURL, _ fields: HTTPFields = HTTPFields(),
        _ content: UploadContent? = nil, _ read: (ShortBody) async throws(TransferFailure) -> Body
    ) async throws(DownloadError) -> (head: ResponseHead, body: Body?) {
        var policy = RetryPolicy(maxRetries: settings.maxRetries)
        while true {
            // The limits may have changed since the last attempt.
            let speed = max(1, min(limits.leastShare ?? Self.leastSpeed, Self.leastSpeed))
            let time = settings.stallTimeout + .seconds((content?.length ?? 0) / speed)
            var outgoing = TransferRequest(of: request, from: url, headLimit: time)
            (outgoing.method, outgoing.fields, outgoing.upload) = (method, fields, content.map(limits.paced))
            let reason: Reason
            var wish: Duration?
            do throws(TransferFailure) {
                let response = try await environment.transport.fetch(outgoing)
                let head = response.head
                let body = ShortBody(response.body)
                if (200...299).contains(head.status) {
                    let content = try await read(body)
                    return (head, content)
                }
                let limits = ShortBody.Limits(bytes: S3UploadDocument.mostBytes, whole: Self.mostTime)
                _ = try await body.collect(limits, clock: environment.clock)
                if head.status == 412 { return (head, nil) }
                wish = RetryAfter.delay(in: head, now: environment.clock.date())
                reason = .phrase(ErrorPhrase(.storeAnswered, url.redacted, "\(head.status)"))
            } catch {
                guard error.isTransient else { throw DownloadError(error) }
                reason = .phrase(error.phrase)
            }
            try await pause(&policy, reason, wish: wish)
        }
    }

    /// Waits before the next attempt; throws if no attempts are left.
    private func pause(
        _ policy: inout RetryPolicy, _ reason: Reason, wish: Duration? = nil
    ) async throws(DownloadError) {
        guard case .retry(let delay, _) = policy.failed(wish: wish, random: environment.random()) else {
            throw DownloadError(
                .network, ErrorPhrase(.gaveUp, "\(policy.attempts)", reason), recovery: .transient(retryAfter: nil))
        }
        do { try await environment.clock.sleep(for: delay) } catch {
            throw DownloadError(.cancelled, ErrorPhrase(.stopped))
        }
    }
}

extension ResponseHead {
    /// The ETag of the object in the form that listings use; `nil` if the response has none.
    fileprivate var objectTag: String? { single(.eTag).flatMap { EntityTag($0)?.field } }
}
