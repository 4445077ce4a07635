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
    /// How far a hop had come.
    enum Stage: Sendable, Hashable {
        /// Before the end of the head; whether any byte of it had come.
        case head(isAnswered: Bool)
        case body

        /// What a connection that ends here is called.
        var ending: Kind { self == .head(isAnswered: false) ? .closed : .broken }

        var words: String {
            switch self {
            case .head(isAnswered: false): "before an answer"
            case .head(isAnswered: true): "in the middle of the head"
            case .body: "before the end of the body"
            }
        }
    }

    /// Whom a hop talks to.
    struct Peer: Sendable, Hashable {
        /// `host` or `host:port`, as in messages.
        var authority: String
        /// The proxy in between, as in messages; `nil` without one.
        var proxy: String?
        /// Which addresses of it count.
        var addressFamily: TransferSettings.AddressFamily = .any
    }

    /// Says what an error of AsyncHTTPClient, NIO or NIOSSL means. Total: everything unknown is `.other`.
    static func mapping(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure {
        let failure = unproxied(error, stage: stage, peer: peer)
        guard let proxy = peer.proxy, stage == .head(isAnswered: false) else { return failure }
        // Everything that happens before the tunnel stands is between us and the proxy.
        let own = Peer(authority: "proxy \(proxy)", addressFamily: peer.addressFamily)
        switch failure.kind {
        case .refused, .connectTimeout, .unreachable:
            return TransferFailure(.proxy, unproxied(error, stage: stage, peer: own).message)
        case .dns:
            return unproxied(error, stage: stage, peer: own)
        case .other where !(error is HTTPClientError):
            // SOCKS errors: the types of the handler that AsyncHTTPClient uses are not ours to import.
            return TransferFailure(.proxy, "proxy \(proxy): it cannot reach \(peer.authority) (\(failure.message))")
        default:
            return failure
        }
    }

    private static func unproxied(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure {
        switch error {
        case let error as TransferFailure: error
        case is CancellationError: TransferFailure(.cancelled, "cancelled")
        case let error as HTTPClientError: client(error, stage: stage, peer: peer)
        case let error as HTTPParserError: parser(error, stage: stage, peer: peer)
        case is NIOHTTPDecoderError: TransferFailure(.malformed, "\(peer.authority): an answer that was not asked for")
        case let error as NIOConnectionError: connection(error, peer: peer)
        case is SocketAddressError.UnknownHost: TransferFailure(.dns(permanent: false), "\(peer.authority): no address")
        case let error as ChannelError: channel(error, stage: stage, peer: peer)
        case let error as IOError: system(error.errnoCode, stage: stage, peer: peer)
        default:
            tls(error, stage: stage, peer: peer) ?? TransferFailure(.other, "\(peer.authority): \(type(of: error))")
        }
    }

    private static func client(_ error: HTTPClientError, stage: Stage, peer: Peer) -> TransferFailure {
        let host = peer.authority
        let proxy = "proxy \(peer.proxy ?? host)"
        return switch error {
        case .cancelled: TransferFailure(.cancelled, "cancelled")
        case .alreadyShutdown: TransferFailure(.cancelled, "the transport is shut down")
        case .deadlineExceeded, .getConnectionFromPoolTimeout, .readTimeout:
            TransferFailure(.headTimeout, "\(host): no answer in time")
        case .connectTimeout: TransferFailure(.connectTimeout, "\(host): no connection in time")
        case .tlsHandshakeTimeout: TransferFailure(.connectTimeout, "\(host): no TLS handshake in time")
        case .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            TransferFailure(.proxy, "\(proxy): no answer in time")
        case .invalidProxyResponse: TransferFailure(.proxy, "\(proxy): it refuses to connect to \(host)")
        case .proxyAuthenticationRequired:
            TransferFailure(.proxy, "\(proxy): it asks for credentials", isTransient: false)
        case .remoteConnectionClosed, .uncleanShutdown:
            TransferFailure(stage.ending, "\(host): the connection was closed \(stage.words)")
        default: TransferFailure(.other, "\(host): \(error.shortDescription)")
        }
    }

    private static func parser(_ error: HTTPParserError, stage: Stage, peer: Peer) -> TransferFailure {
        switch error {
        case .invalidEOFState, .closedConnection:
            // The parser was in the middle of something when the connection ended: a short body, a cut chunk.
            TransferFailure(stage == .body ? .broken : stage.ending, ended(stage, peer))
        default:
            TransferFailure(.malformed, "\(peer.authority): unusable answer: \(error.debugDescription)")
        }
    }

    private static func channel(_ error: ChannelError, stage: Stage, peer: Peer) -> TransferFailure {
        if case .connectTimeout = error {
            return TransferFailure(.connectTimeout, "\(peer.authority): no connection in time")
        }
        return TransferFailure(stage.ending, ended(stage, peer))
    }

    private static func ended(_ stage: Stage, _ peer: Peer) -> String {
        "\(peer.authority): the connection was closed \(stage.words)"
    }

    /// A failed system call, by its `errno`.
    static func system(_ code: CInt, stage: Stage, peer: Peer) -> TransferFailure {
        let words = "\(peer.authority): \(String(cString: strerror(code)).lowercased())"
        return switch code {
        case EMFILE, ENFILE: TransferFailure(.outOfDescriptors, words)
        case ECONNREFUSED: TransferFailure(.refused, words)
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT, EACCES, EPERM:
            stage == .body ? TransferFailure(.broken, words) : TransferFailure(.unreachable, words)
        case ETIMEDOUT: stage == .body ? TransferFailure(.broken, words) : TransferFailure(.connectTimeout, words)
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN, ENETRESET, EIO:
            TransferFailure(stage.ending, "\(words), \(stage.words)")
        default: stage == .body ? TransferFailure(.broken, words) : TransferFailure(.other, words)
        }
    }

    /// All the addresses that were tried, as one failure: the one that says most.
    private static func connection(_ error: NIOConnectionError, peer: Peer) -> TransferFailure {
        let attempts = error.connectionErrors.filter { attempt in
            switch (attempt.target, peer.addressFamily) {
            case (.v4, .v6), (.v6, .v4): false
            default: true
            }
        }
        if attempts.isEmpty, !error.connectionErrors.isEmpty {
            let version = peer.addressFamily == .v4 ? "IPv4" : "IPv6"
            return TransferFailure(.dns(permanent: true), "\(peer.authority): no \(version) address")
        }
        guard !attempts.isEmpty else {
            return TransferFailure(.dns(permanent: false), "\(peer.authority): the name has no address")
        }
        let direct = Peer(authority: peer.authority)
        let failures = attempts.map { mapping($0.error, stage: .head(isAnswered: false), peer: direct) }
        let telling: [Kind] = [.outOfDescriptors, .refused, .connectTimeout, .unreachable]
        for kind in telling {
            if let failure = failures.first(where: { $0.kind == kind }) { return failure }
        }
        return failures[0]
    }
}
