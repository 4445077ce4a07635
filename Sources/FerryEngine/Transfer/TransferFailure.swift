package import FerryCore

/// Why nothing, or not all, came back. It holds no secrets.
package struct TransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// Nobody listens there.
        case refused
        /// The connection did not come about in time.
        case connectTimeout
        /// The name has no address; `permanent` when the name does not exist, rather than nobody answering.
        case dns(permanent: Bool)
        /// The URL holds an address, and not of the family that was asked for.
        case wrongFamily
        /// The address is not of the public internet, and others are not allowed.
        case privateAddress
        /// No way there: no route, the network is down.
        case unreachable
        /// The server could not prove who it is, or offers only TLS that is too old (A43).
        case certificate
        /// TLS broke off, as networks do (A44).
        case tls
        /// No complete head within the limit.
        case headTimeout
        /// The connection ended before the first byte of a head.
        case closed
        /// The connection ended in the head or in the body: a short body, a cut chunk, a reset.
        case broken
        /// What came is not HTTP, or its framing cannot be trusted.
        case malformed
        /// A redirect that cannot be followed.
        case redirect
        /// A redirect from https to http that was not allowed.
        case downgrade
        /// The proxy failed or refused.
        case proxy
        /// This process has no file descriptor left.
        case outOfDescriptors
        /// The task was cancelled, or the transport was shut down.
        case cancelled
        /// Anything else: the request cannot be made, a defect.
        case other

        /// Whether failures of this kind pass by themselves.
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
    /// What failed, on which host, in which words; known in every language.
    package var phrase: ErrorPhrase
    /// One line: the same in English.
    package var message: String { phrase.text(in: .english) }

    /// Whether trying the same again later may work; the kind says so, except for a proxy that asks for credentials.
    package var isTransient: Bool

    package init(_ kind: Kind, _ phrase: ErrorPhrase, isTransient: Bool? = nil) {
        self.kind = kind
        self.phrase = phrase
        self.isTransient = isTransient ?? kind.isTransient
    }

    package var description: String { message }

    /// `url` leads to `address`, which is not of the public internet.
    static func privateAddress(_ address: String, of url: DownloadURL) -> TransferFailure {
        TransferFailure(.privateAddress, ErrorPhrase(.privateAddress, url.redacted, address))
    }
}
