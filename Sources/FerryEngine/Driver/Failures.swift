package import FerryCore
import NIOCore
import SystemPackage

/// Conversions of the lower layers' errors to `DownloadError`.
extension DownloadError {
    package init(_ error: FileError) {
        switch error.kind {
        case .noSpace:
            self.init(
                .diskFull, error.phrase, suggestion: ErrorPhrase(.makeRoom),
                recovery: .needsUser)
        case .confined: self.init(.disk, error.phrase, recovery: .needsUser)
        case .outOfDescriptors:
            self.init(.disk, error.phrase, recovery: .transient(retryAfter: nil))
        case .notOurs(let flaw):
            self.init(
                .conflict, ErrorPhrase(.notOurs, error.path.string, flaw.phrase), suggestion: ErrorPhrase(.makeItYours),
                recovery: .needsUser)
        case .lostOnTheWay:
            self.init(.conflict, error.phrase, recovery: .needsUser)
        default:
            self.init(.disk, error.phrase)
        }
    }

    init(_ error: PartFileError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .locked, .exists:
            self.init(
                .conflict, error.phrase, suggestion: ErrorPhrase(.waitForOther),
                recovery: .needsUser)
        default: self.init(.disk, error.phrase)
        }
    }

    init(_ error: JournalError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .locked:
            self.init(
                .conflict, error.phrase, suggestion: ErrorPhrase(.waitForOther),
                recovery: .needsUser)
        default:
            self.init(
                .disk, error.phrase,
                suggestion: ErrorPhrase(.moveAway),
                recovery: .needsUser)
        }
    }

    init(_ error: PublishError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .exists, .blocked, .noFreeName: self.init(.conflict, error.phrase, recovery: .needsUser)
        case .announcing(let inner as JournalError): self.init(inner)
        case .notIntact: self.init(.disk, error.phrase, suggestion: ErrorPhrase(.continueWithRest))
        case .unsyncedName(_, let inner):
            let cause = DownloadError(inner)
            self.init(cause.code, error.phrase, suggestion: cause.suggestionPhrase, recovery: cause.recovery)
        default: self.init(.disk, error.phrase)
        }
    }

    package init(_ failure: TransferFailure) {
        let code: DownloadError.Code =
            switch failure.kind {
            case .certificate: .certificate
            case .malformed, .redirect, .downgrade, .privateAddress: .refused
            case .cancelled: .cancelled
            case .store(let code): code
            case .other: .network
            default: .network
            }
        let suggestion: ErrorPhrase? =
            switch failure.kind {
            case .certificate:
                switch failure.phrase.key {
                case .untrusted, .unknownAuthority, .uncheckable, .unreadableTrust: ErrorPhrase(.giveAuthority)
                case .selfSigned: ErrorPhrase(.giveCertificate)
                case .certificateExpired: ErrorPhrase(.renewCertificate)
                case .certificateNotYetValid: ErrorPhrase(.setDate)
                case .otherName: ErrorPhrase(.giveNameOfCertificate)
                case .noTLS: ErrorPhrase(.writeHTTP)
                default: nil
                }
            case .downgrade: ErrorPhrase(.allowDowngrade)
            case .redirect where failure.hasTooManyRedirects:
                ErrorPhrase(.allowRedirects)
            case .privateAddress: ErrorPhrase(.allowPrivate)
            case .proxy where !failure.isTransient: ErrorPhrase(.writeProxyCredentials)
            case .store:
                switch failure.phrase.key {
                case .unknownS3Keys, .wrongS3Keys, .expiredS3Keys, .objectNeedsKeys, .objectDenied:
                    ErrorPhrase(.checkS3Keys)
                case .clockIsWrong: ErrorPhrase(.setClock)
                case .otherRegion: ErrorPhrase(.setRegion)
                default: nil
                }
            default: nil
            }
        self.init(
            code, failure.phrase, suggestion: suggestion,
            recovery: failure.isTransient
                ? .transient(retryAfter: nil) : suggestion?.key == .checkS3Keys ? .needsUser : .permanent)
    }
}

extension TransferFailure {
    fileprivate var hasTooManyRedirects: Bool {
        if case .phrase(let refusal)? = phrase.arguments.first { refusal.key == .tooManyRedirects } else { false }
    }
}

/// The running digest of one response's body (RFC 9530 §2), and the ranges that the response wrote.
struct MessageCheck {
    let expected: Checksum
    private var digest: RunningDigest
    /// The ranges that only this response wrote.
    private(set) var written = RangeSet<ByteCount>()

    init(_ expected: Checksum) {
        self.expected = expected
        digest = RunningDigest(expected.algorithm)
    }

    /// Adds the next bytes of the body, including bytes that are not written.
    mutating func received(_ piece: ByteBuffer) { piece.withUnsafeReadableBytes { digest.update($0) } }

    mutating func wrote(_ range: Range<ByteCount>) { written.insert(contentsOf: range) }

    /// Returns the digest of the complete body, or `nil` if it equals the expected one.
    func mismatch() -> Checksum? {
        let actual = digest.finish()
        return actual == expected.bytes ? nil : Checksum(algorithm: expected.algorithm, bytes: actual)
    }
}

extension ResponseVerdict {
    /// The expected digest of this response's body; `nil` if the server sent no usable one.
    var messageDigest: Checksum? {
        switch self {
        case .whole(let representation), .part(_, let representation): representation.messageDigest
        default: nil
        }
    }
}
