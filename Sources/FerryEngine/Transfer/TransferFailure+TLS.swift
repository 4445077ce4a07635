import NIOSSL

extension TransferFailure {
    /// What an error of TLS means; `nil` when it is none.
    ///
    /// A peer that cannot prove who it is, or with whom no safe protocol can be agreed on, stays so: `.certificate`
    /// (A43). A handshake that breaks off is what networks do: `.tls` (A44).
    static func tls(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure? {
        let host = peer.authority
        switch error {
        case let error as NIOSSLError:
            switch error {
            case .handshakeFailed(let cause): return handshake(cause, host: host)
            case .uncleanShutdown:
                return TransferFailure(stage.ending, "\(host): TLS was cut off \(stage.words)")
            case .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel, .cannotFindPeerIP:
                return TransferFailure(.certificate, "\(host): the certificate cannot be checked")
            case .noSuchFilesystemObject, .failedToLoadCertificate, .failedToLoadPrivateKey:
                return TransferFailure(.certificate, "\(host): the file of trusted certificates cannot be read")
            default:
                return TransferFailure(stage == .body ? .broken : .tls, "\(host): TLS broke off \(stage.words)")
            }
        case let error as NIOSSLExtraError:
            switch error {
            case .failedToValidateHostname, .serverHostnameImpossibleToMatch:
                return TransferFailure(.certificate, "\(host): the certificate is for another name")
            case .invalidSNIHostname, .cannotUseIPAddressInSNI:
                return TransferFailure(.certificate, "\(host): the name cannot be asked for in TLS")
            default:
                return TransferFailure(stage == .body ? .broken : .tls, "\(host): TLS broke off \(stage.words)")
            }
        case let error as BoringSSLError:
            if stage == .head(isAnswered: false) { return handshake(error, host: host) }
            return TransferFailure(.broken, "\(host): TLS broke off \(stage.words)")
        case is NIOSSLCloseTimedOutError:
            return TransferFailure(stage.ending, "\(host): TLS was cut off \(stage.words)")
        default:
            return nil
        }
    }

    private static func handshake(_ cause: BoringSSLError, host: String) -> TransferFailure {
        switch cause {
        case .sslError(let stack), .unknownError(let stack):
            let words = stack.map(\.description).joined(separator: " ")
            return handshake(words: words, host: host)
        case .invalidSNIName:
            return TransferFailure(.certificate, "\(host): the name cannot be asked for in TLS")
        default:
            return TransferFailure(.tls, "\(host): the TLS handshake broke off")
        }
    }

    /// What the words of BoringSSL mean; it has no types for them.
    static func handshake(words: String, host: String) -> TransferFailure {
        let upper = words.uppercased()
        for (word, reason) in lasting where upper.contains(word) {
            return TransferFailure(.certificate, "\(host): \(reason)")
        }
        return TransferFailure(.tls, "\(host): the TLS handshake broke off")
    }

    private static let lasting: [(String, String)] = [
        ("CERTIFICATE_VERIFY_FAILED", "the certificate is not trusted"),
        ("HOSTNAME_MISMATCH", "the certificate is for another name"),
        ("CERTIFICATE_REQUIRED", "the server wants a certificate from us"),
        ("BAD_CERTIFICATE", "the certificate is not acceptable"),
        ("CERTIFICATE_EXPIRED", "the certificate has expired"),
        ("UNKNOWN_CA", "the certificate is not trusted"),
        ("UNSUPPORTED_PROTOCOL", "the server speaks only TLS that is too old"),
        ("PROTOCOL_VERSION", "the server speaks only TLS that is too old"),
        ("WRONG_VERSION_NUMBER", "the server does not speak TLS there"),
        ("HTTP_REQUEST", "the server does not speak TLS there"),
        ("NO_SHARED_CIPHER", "no common TLS cipher"),
        ("HANDSHAKE_FAILURE", "no common TLS settings"),
        ("INSUFFICIENT_SECURITY", "no common TLS settings"),
        ("UNRECOGNIZED_NAME", "the server does not know this name"),
        ("WRONG_CIPHER", "no common TLS cipher"),
        ("NO_APPLICATION_PROTOCOL", "the server does not speak HTTP/1.1 there"),
    ]
}
