import FerryCore
import NIOSSL

extension TransferFailure {
    /// Maps a TLS error to a failure; returns `nil` for any other error.
    ///
    /// A peer without a valid certificate or a safe protocol in common is a permanent failure, `.certificate`. An
    /// interrupted handshake is a transient network failure, `.tls`.
    static func tls(_ error: any Error, stage: Stage, peer: Peer) -> TransferFailure? {
        let host = peer.name
        switch error {
        case let error as NIOSSLError:
            switch error {
            case .handshakeFailed(let cause): return handshake(cause, host: host)
            case .uncleanShutdown:
                return TransferFailure(stage.ending, ErrorPhrase(.tlsCutOff, host, stage.phrase))
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
            return TransferFailure(stage.ending, ErrorPhrase(.tlsCutOff, host, stage.phrase))
        default:
            return nil
        }
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

    /// Maps the text of a BoringSSL error, for which there are no types.
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
