import AsyncHTTPClient
import FerryCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

extension TransferFailure {
    /// The progress of an exchange at its failure.
    enum Stage: Sendable, Hashable {
        /// Before the end of the response head; `isAnswered`: whether any byte of it had arrived.
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
        /// The proxy in between, as displayed; `nil` without one.
        var proxy: String?
        /// The address family that may be used.
        var addressFamily: TransferSettings.AddressFamily = .any

        /// The display name.
        var name: Reason { isProxy ? .phrase(ErrorPhrase(.proxyNamed, authority)) : .words(authority) }
    }

    /// Maps an error of AsyncHTTPClient, NIO or NIOSSL to a failure. Total: every unknown error is `.other`.
    static func mapping(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure {
        let failure = unproxied(error, stage: stage, peer: peer)
        guard let proxy = peer.proxy, stage == .head(isAnswered: false) else { return failure }
        // Failures before the tunnel is established concern the connection to the proxy.
        let own = Peer(authority: proxy, isProxy: true, addressFamily: peer.addressFamily)
        switch failure.kind {
        case .refused, .connectTimeout, .unreachable:
            return TransferFailure(.proxy, unproxied(error, stage: stage, peer: own).phrase)
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
        case .remoteConnectionClosed, .uncleanShutdown:
            TransferFailure(stage.ending, ended(stage, peer))
        default: TransferFailure(.other, ErrorPhrase(.failedWith, host, error.shortDescription))
        }
    }

    private static func parser(_ error: HTTPParserError, stage: Stage, peer: Peer) -> TransferFailure {
        switch error {
        case .invalidEOFState, .closedConnection:
            // The connection ended in the middle of a message: a short body or a truncated chunk.
            TransferFailure(stage == .body ? .broken : stage.ending, ended(stage, peer))
        default:
            TransferFailure(.malformed, ErrorPhrase(.unusableHTTP, peer.name, error.debugDescription))
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
