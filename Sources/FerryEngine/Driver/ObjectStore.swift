import FerryCore
import HTTPTypes
import NIOCore

/// The requests by which a file becomes an object. Each is repeated after a failure that may pass, as those of downloads
/// are.
struct ObjectStore: Sendable {
    /// What a store knows of an object.
    struct Status: Sendable, Hashable {
        var bytes: ByteCount?
        var etag: String?
        /// The SHA-256 in Base64; of an object of several parts the SHA-256 of theirs, with their number behind it.
        var checksum: String?
    }

    /// The result of a request that makes an object.
    enum Outcome: Sendable, Hashable {
        case stored
        /// There is an object of this key already, and it was not to be replaced.
        case exists
        /// The store does not know the upload: it has ended before, one way or the other.
        case gone
    }

    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let settings: DriverSettings

    init(_ request: DownloadRequest, _ environment: EngineEnvironment, _ settings: DriverSettings) {
        self.request = request
        self.environment = environment
        self.settings = settings
    }

    /// Returns what the store knows of an object; `nil` if there is none, or the keys do not permit to ask: then the store
    /// decides when the object is made.
    func status(of object: DownloadURL) async throws(DownloadError) -> Status? {
        do throws(DownloadError) {
            let head = try await send(.head, object, [.checksumMode: "ENABLED"]).head
            return Status(
                bytes: head.declaredLength, etag: head.single(.eTag), checksum: head.single(.checksumSHA256))
        } catch {
            guard [.noSuchObject, .objectDenied].contains(error.phrase?.key) else { throw error }
            return nil
        }
    }

    /// Makes an object of a whole content.
    func put(_ content: UploadContent, base64: String, as object: DownloadURL) async throws(DownloadError) -> Outcome {
        var fields = mayReplace
        fields[.checksumAlgorithm] = "SHA256"
        fields[.checksumSHA256] = base64
        let head = try await send(.put, object, fields, content).head
        return head.status == 412 ? .exists : .stored
    }

    // MARK: Uploads of several parts

    /// Begins an upload. Returns its identifier.
    func begin(_ object: DownloadURL) async throws(DownloadError) -> String {
        let fields: HTTPFields = [.multipartChecksumAlgorithm: "SHA256"]
        let answer = try await send(.post, object.with(query: [("uploads", "")]), fields)
        return try usable(object) { () throws(TextError) in try S3UploadDocument.identifier(answer.body) }
    }

    /// Returns the parts that the store has of an upload; `nil` if it does not know the upload.
    func parts(_ object: DownloadURL, _ id: String) async throws(DownloadError) -> [S3Part]? {
        var all: [S3Part] = []
        var marker: Int?
        repeat {
            var query = [(name: "uploadId", value: id), ("max-parts", "1000")]
            if let marker { query.append(("part-number-marker", "\(marker)")) }
            let body: [UInt8]
            do throws(DownloadError) { body = try await send(.get, object.with(query: query)).body } catch {
                guard [.uploadGone, .noSuchObject].contains(error.phrase?.key) else { throw error }
                return nil
            }
            let page = try usable(object) { () throws(TextError) in try S3UploadDocument.parts(body) }
            all += page.parts
            // Only ascending numbers end.
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

    /// Makes the object of its parts, in order.
    func complete(_ parts: [S3Part], of object: DownloadURL, _ id: String) async throws(DownloadError) -> Outcome {
        let bytes = Array(S3UploadDocument.completion(parts).utf8)
        let content = UploadContent(bytes)
        var policy = RetryPolicy(maxAttempts: settings.maxAttempts)
        while true {
            let answer: (head: ResponseHead, body: [UInt8])
            do throws(DownloadError) {
                answer = try await send(.post, object.with(query: [("uploadId", id)]), mayReplace, content)
            } catch {
                if error.phrase?.key == .uploadGone { return .gone }
                throw error
            }
            if answer.head.status == 412 { return .exists }
            if S3UploadDocument.isComplete(answer.body) { return .stored }
            // The status was sent before the outcome was known: the body has the error.
            let failure = S3Failure(ResponseHead(status: 500), body: answer.body)
            if failure.code == "NoSuchUpload" { return .gone }
            if failure.code == "PreconditionFailed" { return .exists }
            try await pause(&policy, .phrase(failure.phrase(of: object, isSigned: true)))
        }
    }

    /// Removes an upload and its parts, if the store does not refuse it.
    func abort(_ object: DownloadURL, _ id: String) async {
        _ = try? await send(.delete, object.with(query: [("uploadId", id)]))
    }

    // MARK: Requests

    private var mayReplace: HTTPFields {
        request.onConflict == .overwrite ? HTTPFields() : [.ifNoneMatch: "*"]
    }

    private func usable<Value>(
        _ object: DownloadURL, _ read: () throws(TextError) -> Value
    ) throws(DownloadError) -> Value {
        do throws(TextError) { return try read() } catch {
            throw DownloadError(.refused, ErrorPhrase(.failedWith, "\(object)", error.whole))
        }
    }

    /// The slowest upload that is waited for, in bytes per second.
    private static let leastSpeed: ByteCount = 16 << 10

    /// Sends a request until the store has decided: a success, or that a condition does not hold.
    private func send(
        _ method: HTTPRequest.Method, _ url: DownloadURL, _ fields: HTTPFields = HTTPFields(),
        _ content: UploadContent? = nil
    ) async throws(DownloadError) -> (head: ResponseHead, body: [UInt8]) {
        let time = settings.stallTimeout + .seconds((content?.length ?? 0) / Self.leastSpeed)
        var outgoing = TransferRequest(of: request, from: url, headLimit: time)
        (outgoing.method, outgoing.fields, outgoing.upload) = (method, fields, content)
        var policy = RetryPolicy(maxAttempts: settings.maxAttempts)
        while true {
            let reason: Reason
            var wish: Duration?
            do throws(TransferFailure) {
                let response = try await environment.transport.fetch(outgoing)
                let head = response.head
                // A store sends blanks until it has joined the parts.
                let content = try await ShortBody(response.body).collect(
                    ShortBody.Limits(bytes: S3UploadDocument.mostBytes, whole: .seconds(1800)),
                    clock: environment.clock)
                if (200...299).contains(head.status) || head.status == 412 {
                    return (head, Array(buffer: content.bytes))
                }
                wish = RetryAfter.delay(in: head, now: environment.clock.date())
                reason = .phrase(ErrorPhrase(.storeAnswered, url.redacted, "\(head.status)"))
            } catch {
                guard error.isTransient else { throw DownloadError(error) }
                reason = .phrase(error.phrase)
            }
            try await pause(&policy, reason, wish: wish)
        }
    }

    /// Waits before another attempt; throws if there were enough.
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
