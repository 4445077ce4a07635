import AsyncHTTPClient
package import FerryCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The reason why a response failed or was incomplete. Contains no secrets.
package struct TransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The host refused the connection.
        case refused
        /// The connection was not established in time.
        case connectTimeout
        /// The name has no address; `permanent` if the name does not exist, as opposed to a resolver failure.
        case dns(permanent: Bool)
        /// The URL contains an address of a family that is not allowed.
        case wrongFamily
        /// The address is private, and private addresses are not allowed.
        case privateAddress
        /// The host is unreachable: no route, or the network is down.
        case unreachable
        /// The server's certificate is not valid, or the server offers only obsolete TLS versions.
        case certificate
        /// TLS was interrupted by a network failure.
        case tls
        /// The response head was not complete within the limit.
        case headTimeout
        /// The connection ended before the first byte of a response head.
        case closed
        /// The connection ended in the head or in the body: a short body, a truncated chunk, a reset.
        case broken
        /// The response is not HTTP, or its framing cannot be trusted.
        case malformed
        /// A redirect that cannot be followed.
        case redirect
        /// A redirect from https to http that was not allowed.
        case downgrade
        /// The proxy failed or refused.
        case proxy
        /// The process has no file descriptors left.
        case outOfDescriptors
        /// The host accepts no request before this time, because of its Retry-After or its budget; no request was sent.
        case held(until: Duration)
        /// The task was cancelled, or the transport was shut down.
        case cancelled
        /// A store refused a request for an object, or the request cannot be made; the payload is the code of the error.
        case store(DownloadError.Code)
        /// Any other failure: an invalid request or an internal error.
        case other

        /// Whether failures of this kind may disappear without intervention.
        package var isTransient: Bool {
            switch self {
            case .refused, .connectTimeout, .unreachable, .tls, .headTimeout, .closed, .broken, .proxy,
                .outOfDescriptors, .held:
                true
            case .dns(let permanent):
                !permanent
            case .wrongFamily, .privateAddress, .certificate, .malformed, .redirect, .downgrade, .cancelled, .store,
                .other:
                false
            }
        }
    }

    package var kind: Kind
    /// The message: what failed, on which host. Localizable.
    package var phrase: ErrorPhrase
    /// The message in English, one line.
    package var message: String { phrase.text(in: .english) }

    /// Whether a later retry may succeed. Follows from the kind, except for a proxy that requires credentials.
    package var isTransient: Bool
    /// Whether the host, or the proxy in front of it, refused the connection.
    package var isRefusal: Bool
    /// Whether TLS ended without close_notify.
    package var isCutOff = false

    package init(_ kind: Kind, _ phrase: ErrorPhrase, isTransient: Bool? = nil) {
        self.kind = kind
        self.phrase = phrase
        self.isTransient = isTransient ?? kind.isTransient
        isRefusal = kind == .refused
    }

    package var description: String { message }

    /// Returns the failure for `url`, which leads to the private address `address`.
    static func privateAddress(_ address: String, of url: DownloadURL) -> TransferFailure {
        TransferFailure(.privateAddress, ErrorPhrase(.privateAddress, url.redacted, address))
    }
}

extension TransferFailure {
    /// Maps a TLS error to a failure; returns `nil` for any other error.
    ///
    /// An invalid certificate, or the lack of a secure protocol that both sides support, is a permanent failure, `.certificate`.
    /// An interrupted handshake is a transient network failure, `.tls`.
    static func tls(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure? {
        let host = peer.name
        switch error {
        case let error as NIOSSLError:
            switch error {
            case .handshakeFailed(let cause): return handshake(cause, host: host)
            case .uncleanShutdown:
                return cutOff(stage, host)
            case .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel, .cannotFindPeerIP:
                return TransferFailure(.certificate, ErrorPhrase(.uncheckable, host))
            case .noSuchFilesystemObject, .failedToLoadCertificate, .failedToLoadPrivateKey:
                return TransferFailure(.certificate, ErrorPhrase(.unreadableTrust, host))
            default:
                return TransferFailure(stage == .body ? .broken : .tls, ErrorPhrase(.tlsBrokeOff, host, stage.phrase))
            }
        case let error as NIOSSLExtraError:
            switch error {
            case .failedToValidateHostname, .serverHostnameImpossibleToMatch:
                return TransferFailure(.certificate, ErrorPhrase(.otherName, host))
            case .invalidSNIHostname, .cannotUseIPAddressInSNI:
                return TransferFailure(.certificate, ErrorPhrase(.unaskableName, host))
            default:
                return TransferFailure(stage == .body ? .broken : .tls, ErrorPhrase(.tlsBrokeOff, host, stage.phrase))
            }
        case let error as BoringSSLError:
            if stage == .head(isAnswered: false) { return handshake(error, host: host) }
            return TransferFailure(.broken, ErrorPhrase(.tlsBrokeOff, host, stage.phrase))
        case is NIOSSLCloseTimedOutError:
            return cutOff(stage, host)
        default:
            return nil
        }
    }

    private static func cutOff(_ stage: Stage, _ host: Reason) -> TransferFailure {
        var failure = TransferFailure(stage.ending, ErrorPhrase(.tlsCutOff, host, stage.phrase))
        failure.isCutOff = true
        return failure
    }

    private static func handshake(_ cause: BoringSSLError, host: Reason) -> TransferFailure {
        switch cause {
        case .sslError(let stack), .unknownError(let stack):
            let words = stack.map(\.description).joined(separator: " ")
            return handshake(words: words, host: host)
        case .invalidSNIName:
            return TransferFailure(.certificate, ErrorPhrase(.unaskableName, host))
        default:
            return TransferFailure(.tls, ErrorPhrase(.handshakeBrokeOff, host))
        }
    }

    /// Maps the text of a BoringSSL error to a failure, because these errors have no types.
    static func handshake(words: String, host: Reason) -> TransferFailure {
        let upper = words.uppercased()
        for (word, key) in lasting where upper.contains(word) {
            return TransferFailure(.certificate, ErrorPhrase(key, host))
        }
        return TransferFailure(.tls, ErrorPhrase(.handshakeBrokeOff, host))
    }

    private static let lasting: [(String, ErrorPhrase.Key)] = [
        ("CERTIFICATE_VERIFY_FAILED", .untrusted),
        ("HOSTNAME_MISMATCH", .otherName),
        ("CERTIFICATE_REQUIRED", .wantsCertificate),
        ("BAD_CERTIFICATE", .unacceptable),
        ("CERTIFICATE_EXPIRED", .expired),
        ("UNKNOWN_CA", .untrusted),
        ("UNSUPPORTED_PROTOCOL", .oldTLS),
        ("PROTOCOL_VERSION", .oldTLS),
        ("WRONG_VERSION_NUMBER", .noTLS),
        ("HTTP_REQUEST", .noTLS),
        ("NO_SHARED_CIPHER", .noCipher),
        ("HANDSHAKE_FAILURE", .noTLSSettings),
        ("INSUFFICIENT_SECURITY", .noTLSSettings),
        ("UNRECOGNIZED_NAME", .unknownName),
        ("WRONG_CIPHER", .noCipher),
        ("NO_APPLICATION_PROTOCOL", .otherProtocol),
    ]
}

extension TransferFailure {
    /// The progress of an exchange at its failure.
    enum Stage: Sendable, Hashable {
        /// Before the end of the response head. `isAnswered`: whether any byte of it had arrived.
        case head(isAnswered: Bool)
        case body

        /// The kind of failure when a connection ends at this stage.
        var ending: Kind { self == .head(isAnswered: false) ? .closed : .broken }

        /// The stage in words.
        var phrase: ErrorPhrase {
            switch self {
            case .head(isAnswered: false): ErrorPhrase(.beforeAnswer)
            case .head(isAnswered: true): ErrorPhrase(.inHead)
            case .body: ErrorPhrase(.beforeBodyEnd)
            }
        }
    }

    /// The other end of an exchange.
    struct Peer: Sendable, Hashable {
        /// `host` or `host:port`; for a proxy, its display name.
        var authority: String
        var isProxy = false
        /// The display name of the proxy in between; `nil` if there is none.
        var proxy: String?
        /// The address family that may be used.
        var addressFamily: TransferSettings.AddressFamily = .any

        /// The display name.
        var name: Reason { isProxy ? .phrase(ErrorPhrase(.proxyNamed, authority)) : .words(authority) }
    }

    /// Maps an error of AsyncHTTPClient, NIO or NIOSSL to a failure. An unknown error becomes `.other`.
    static func mapping(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure {
        let failure = unproxied(error, stage: stage, peer: peer)
        guard let proxy = peer.proxy, stage == .head(isAnswered: false) else { return failure }
        // Failures before the tunnel is established concern the connection to the proxy.
        let own = Peer(authority: proxy, isProxy: true, addressFamily: peer.addressFamily)
        let wasRefused = failure.isRefusal
        switch failure.kind {
        case .refused, .connectTimeout, .unreachable:
            var failure = TransferFailure(.proxy, unproxied(error, stage: stage, peer: own).phrase)
            failure.isRefusal = wasRefused
            return failure
        case .dns:
            return unproxied(error, stage: stage, peer: own)
        case .other where !(error is HTTPClientError):
            // SOCKS errors: AsyncHTTPClient does not export their types.
            return TransferFailure(.proxy, ErrorPhrase(.proxyCannotReach, proxy, peer.authority, failure.phrase))
        default:
            return failure
        }
    }

    private static func unproxied(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure {
        switch error {
        case let error as TransferFailure: error
        case is CancellationError: TransferFailure(.cancelled, ErrorPhrase(.stopped))
        case let error as HTTPClientError: client(error, stage: stage, peer: peer)
        case let error as HTTPParserError: parser(error, stage: stage, peer: peer)
        case is NIOHTTPDecoderError: TransferFailure(.malformed, ErrorPhrase(.unaskedAnswer, peer.name))
        case let error as NIOConnectionError: connection(error, peer: peer)
        case is SocketAddressError.UnknownHost:
            TransferFailure(.dns(permanent: false), ErrorPhrase(.noAddress, peer.name))
        case let error as ChannelError: channel(error, stage: stage, peer: peer)
        case let error as IOError: system(error.errnoCode, stage: stage, peer: peer)
        default:
            tls(error, stage: stage, peer: peer)
                ?? TransferFailure(.other, ErrorPhrase(.failedWith, peer.name, "\(type(of: error))"))
        }
    }

    private static func client(_ error: HTTPClientError, stage: Stage, peer: Peer) -> TransferFailure {
        let host = peer.name
        let proxy = ErrorPhrase(.proxyNamed, peer.proxy ?? peer.authority)
        return switch error {
        case .cancelled: TransferFailure(.cancelled, ErrorPhrase(.stopped))
        case .alreadyShutdown: TransferFailure(.cancelled, ErrorPhrase(.transportShutDown))
        case .deadlineExceeded, .getConnectionFromPoolTimeout, .readTimeout:
            TransferFailure(.headTimeout, ErrorPhrase(.noAnswerInTime, host))
        case .connectTimeout: TransferFailure(.connectTimeout, ErrorPhrase(.noConnectionInTime, host))
        case .tlsHandshakeTimeout: TransferFailure(.connectTimeout, ErrorPhrase(.noHandshakeInTime, host))
        case .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            TransferFailure(.proxy, ErrorPhrase(.noAnswerInTime, proxy))
        case .invalidProxyResponse: TransferFailure(.proxy, ErrorPhrase(.proxyRefuses, proxy, host))
        case .proxyAuthenticationRequired:
            TransferFailure(
                .proxy, ErrorPhrase(.proxyAsksForCredentials, peer.proxy ?? peer.authority), isTransient: false)
        case .remoteConnectionClosed: TransferFailure(stage.ending, ended(stage, peer))
        case .uncleanShutdown: cutOff(stage, host)
        default: TransferFailure(.other, ErrorPhrase(.failedWith, host, error.shortDescription))
        }
    }

    private static func parser(_ error: HTTPParserError, stage: Stage, peer: Peer) -> TransferFailure {
        switch error {
        case .invalidEOFState, .closedConnection:
            // The connection ended in the middle of a message: a short body or a truncated chunk.
            TransferFailure(stage == .body ? .broken : stage.ending, ended(stage, peer))
        default:
            TransferFailure(.malformed, ErrorPhrase(.unusableHTTP, peer.name, fault(error)))
        }
    }

    /// Returns a description of the fault in a response. The parser's own description is used only if there is no other.
    private static func fault(_ error: HTTPParserError) -> Reason {
        switch error {
        case .invalidConstant, .invalidVersion, .invalidStatus: Reason(.noStatusLine)
        case .headerOverflow: Reason(.largeHead)
        case .invalidHeaderToken, .lfExpected, .invalidCharactersUsed: Reason(.badHeaderLine)
        case .invalidContentLength, .unexpectedContentLength: Reason(.badContentLength)
        case .invalidChunkSize: Reason(.badChunkSize)
        default: .words(error.debugDescription)
        }
    }

    private static func channel(_ error: ChannelError, stage: Stage, peer: Peer) -> TransferFailure {
        if case .connectTimeout = error {
            return TransferFailure(.connectTimeout, ErrorPhrase(.noConnectionInTime, peer.name))
        }
        return TransferFailure(stage.ending, ended(stage, peer))
    }

    private static func ended(_ stage: Stage, _ peer: Peer) -> ErrorPhrase {
        ErrorPhrase(.connectionClosed, peer.name, stage.phrase)
    }

    /// Maps the `errno` of a failed system call.
    static func system(_ code: CInt, stage: Stage, peer: Peer) -> TransferFailure {
        let words = words(for: code, peer)
        return switch code {
        case EMFILE, ENFILE: TransferFailure(.outOfDescriptors, words)
        case ECONNREFUSED: TransferFailure(.refused, words)
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT, EACCES, EPERM:
            stage == .body ? TransferFailure(.broken, words) : TransferFailure(.unreachable, words)
        case ETIMEDOUT: stage == .body ? TransferFailure(.broken, words) : TransferFailure(.connectTimeout, words)
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN, ENETRESET, EIO:
            TransferFailure(stage.ending, ErrorPhrase(.at, words, stage.phrase))
        default: stage == .body ? TransferFailure(.broken, words) : TransferFailure(.other, words)
        }
    }

    /// Returns the message for an error number, localized for the common ones.
    private static func words(for code: CInt, _ peer: Peer) -> ErrorPhrase {
        switch code {
        case ECONNREFUSED: ErrorPhrase(.connectionRefused, peer.name)
        case EHOSTUNREACH: ErrorPhrase(.noRoute, peer.name)
        case ENETUNREACH: ErrorPhrase(.networkUnreachable, peer.name)
        case ENETDOWN: ErrorPhrase(.networkDown, peer.name)
        case ETIMEDOUT: ErrorPhrase(.connectTimedOut, peer.name)
        case ECONNRESET: ErrorPhrase(.connectionReset, peer.name)
        case EPIPE: ErrorPhrase(.brokenPipe, peer.name)
        case EMFILE: ErrorPhrase(.noDescriptors, peer.name)
        default: ErrorPhrase(.failedWith, peer.name, String(cString: strerror(code)).lowercased())
        }
    }

    /// Reduces the failures of all addresses to the most informative one.
    private static func connection(_ error: NIOConnectionError, peer: Peer) -> TransferFailure {
        let attempts = error.connectionErrors.filter { attempt in
            switch (attempt.target, peer.addressFamily) {
            case (.v4, .v6), (.v6, .v4): false
            default: true
            }
        }
        if attempts.isEmpty, !error.connectionErrors.isEmpty {
            let version = peer.addressFamily == .v4 ? "IPv4" : "IPv6"
            return TransferFailure(.dns(permanent: true), ErrorPhrase(.noAddressOfVersion, peer.name, version))
        }
        guard !attempts.isEmpty else {
            return TransferFailure(.dns(permanent: false), ErrorPhrase(.nameWithoutAddress, peer.name))
        }
        let direct = Peer(authority: peer.authority, isProxy: peer.isProxy)
        let failures = attempts.map { mapping($0.error, stage: .head(isAnswered: false), peer: direct) }
        let telling: [Kind] = [.outOfDescriptors, .refused, .connectTimeout, .unreachable]
        for kind in telling {
            if let failure = failures.first(where: { $0.kind == kind }) { return failure }
        }
        return failures[0]
    }
}
