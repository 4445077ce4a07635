package import FerryCore

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
        /// The task was cancelled, or the transport was shut down.
        case cancelled
        /// Any other failure: an invalid request or an internal error.
        case other

        /// Whether failures of this kind may disappear without intervention.
        package var isTransient: Bool {
            switch self {
            case .refused, .connectTimeout, .unreachable, .tls, .headTimeout, .closed, .broken, .proxy,
                .outOfDescriptors:
                true
            case .dns(let permanent):
                !permanent
            case .wrongFamily, .privateAddress, .certificate, .malformed, .redirect, .downgrade, .cancelled, .other:
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

    package init(_ kind: Kind, _ phrase: ErrorPhrase, isTransient: Bool? = nil) {
        self.kind = kind
        self.phrase = phrase
        self.isTransient = isTransient ?? kind.isTransient
    }

    package var description: String { message }

    /// Returns the failure for `url`, which leads to the private address `address`.
    static func privateAddress(_ address: String, of url: DownloadURL) -> TransferFailure {
        TransferFailure(.privateAddress, ErrorPhrase(.privateAddress, url.redacted, address))
    }
}
