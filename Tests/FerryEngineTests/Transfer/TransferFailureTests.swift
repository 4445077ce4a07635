import FerryCore
import Foundation
import NIOCore
import Testing

@testable import FerryEngine

@Suite("TransferFailure")
struct TransferFailureTests {
    private let peer = TransferFailure.Peer(authority: "a.test", proxy: nil)

    @Test(
        "TransferFailure: every kind is either transient or permanent as listed",
        arguments: [
            (TransferFailure.Kind.refused, true), (.connectTimeout, true), (.dns(permanent: false), true),
            (.dns(permanent: true), false), (.wrongFamily, false), (.unreachable, true), (.certificate, false),
            (.tls, true),
            (.headTimeout, true), (.closed, true), (.broken, true), (.malformed, false), (.redirect, false),
            (.downgrade, false), (.proxy, true), (.outOfDescriptors, true), (.cancelled, false), (.other, false),
        ])
    func transience(kind: TransferFailure.Kind, passes: Bool) {
        #expect(TransferFailure(kind, ErrorPhrase(.stopped)).isTransient == passes)
    }

    @Test(
        "TransferFailure: a system error keeps its kind before the head and is broken in the body",
        arguments: [
            (ECONNREFUSED, TransferFailure.Kind.refused), (EHOSTUNREACH, .unreachable), (ENETUNREACH, .unreachable),
            (ENETDOWN, .unreachable), (ETIMEDOUT, .connectTimeout), (ECONNRESET, .closed), (EPIPE, .closed),
            (EMFILE, .outOfDescriptors), (ENFILE, .outOfDescriptors), (EINVAL, .other),
        ])
    func systemErrors(code: CInt, kind: TransferFailure.Kind) {
        let error = IOError(errnoCode: code, reason: "connect")
        #expect(TransferFailure.mapping(error, stage: .head(isAnswered: false), peer: peer).kind == kind)
        let inBody: TransferFailure.Kind =
            kind == .outOfDescriptors || kind == .refused ? kind : .broken
        #expect(TransferFailure.mapping(error, stage: .body, peer: peer).kind == inBody)
    }

    @Test("TransferFailure: a reset within the head is broken, and one before it is closed")
    func halfHead() {
        let error = IOError(errnoCode: ECONNRESET, reason: "read")
        #expect(TransferFailure.mapping(error, stage: .head(isAnswered: true), peer: peer).kind == .broken)
        #expect(TransferFailure.mapping(ChannelError.eof, stage: .head(isAnswered: false), peer: peer).kind == .closed)
        #expect(TransferFailure.mapping(ChannelError.eof, stage: .body, peer: peer).kind == .broken)
    }

    @Test("TransferFailure: an error before the tunnel stands is a proxy failure that names the proxy")
    func proxy() {
        let behind = TransferFailure.Peer(authority: "a.test", proxy: "http://p.test:8080")
        let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
        let failure = TransferFailure.mapping(refused, stage: .head(isAnswered: false), peer: behind)
        #expect(failure.kind == .proxy)
        // As of a server, so that it ends as soon.
        #expect(failure.isRefusal)
        #expect(failure.message.contains("http://p.test:8080"))
        let descriptors = IOError(errnoCode: EMFILE, reason: "socket")
        #expect(
            TransferFailure.mapping(descriptors, stage: .head(isAnswered: false), peer: behind).kind
                == .outOfDescriptors)
        struct Strange: Error {}
        #expect(TransferFailure.mapping(Strange(), stage: .head(isAnswered: false), peer: behind).kind == .proxy)
    }

    @Test("TransferFailure: messages name the peer in English and Chinese")
    func chinese() {
        let behind = TransferFailure.Peer(authority: "a.test", proxy: "http://p.test:8080")
        func text(_ error: any Error, _ stage: TransferFailure.Stage, _ peer: TransferFailure.Peer) -> [String] {
            let phrase = TransferFailure.mapping(error, stage: stage, peer: peer).phrase
            return [phrase.text(in: .english), phrase.text(in: .simplifiedChinese)]
        }
        let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
        #expect(
            text(refused, .head(isAnswered: false), behind)
                == ["proxy http://p.test:8080: connection refused", "代理 http://p.test:8080：连接被拒绝"])
        let reset = IOError(errnoCode: ECONNRESET, reason: "read")
        #expect(
            text(reset, .body, TransferFailure.Peer(authority: "a.test"))
                == [
                    "a.test: connection reset by peer, before the end of the body", "a.test：连接被对方重置，发生在正文结束之前",
                ])
        #expect(
            TransferFailure.handshake(words: "CERTIFICATE_EXPIRED", host: "a.test").phrase.text(in: .simplifiedChinese)
                == "a.test：证书已过期")
    }

    @Test("TransferFailure: an unknown error is other, and its contents are not shown")
    func unknown() {
        struct Strange: Error { let password = "secret" }
        let failure = TransferFailure.mapping(Strange(), stage: .body, peer: peer)
        #expect(failure.kind == .other)
        #expect(!failure.message.contains("secret"))
        #expect(TransferFailure.mapping(CancellationError(), stage: .body, peer: peer).kind == .cancelled)
        #expect(
            TransferFailure.mapping(TransferFailure(.redirect, ErrorPhrase(.redirectNowhere)), stage: .body, peer: peer)
                .kind == .redirect)
    }

    @Test(
        "TransferFailure: BoringSSL's handshake errors map to permanent or transient kinds (A43, A44)",
        arguments: [
            (
                "error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED",
                TransferFailure.Kind.certificate
            ),
            ("error:100000f0:SSL routines:OPENSSL_internal:UNSUPPORTED_PROTOCOL", .certificate),
            ("error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION", .certificate),
            ("error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER", .certificate),
            ("error:10000410:SSL routines:OPENSSL_internal:SSLV3_ALERT_HANDSHAKE_FAILURE", .certificate),
            ("Error:  EOF during handshake", .tls),
            ("error:10000438:SSL routines:OPENSSL_internal:TLSV1_ALERT_INTERNAL_ERROR", .tls),
            ("", .tls),
        ])
    func handshakes(words: String, kind: TransferFailure.Kind) {
        #expect(TransferFailure.handshake(words: words, host: "a.test").kind == kind)
    }

    @Test(
        "HostLookup: only a name that does not exist is a permanent failure (A44)",
        arguments: [(EAI_NONAME, true), (EAI_AGAIN, false), (EAI_FAIL, false), (0, false)])
    func lookups(code: CInt, isLasting: Bool) {
        #expect(HostLookup.isLasting(code) == isLasting)
    }

    @Test("DownloadError: an authority is advised only where one is missing, and http where no TLS is spoken")
    func suggestions() {
        func suggestion(_ key: ErrorPhrase.Key) -> String? {
            DownloadError(TransferFailure(.certificate, ErrorPhrase(key, "h"))).suggestion
        }
        #expect(suggestion(.untrusted)?.contains("--ca-file") == true)
        #expect(suggestion(.noTLS)?.contains("http://") == true)
        #expect(suggestion(.unknownAuthority)?.contains("--ca-file") == true)
        #expect(suggestion(.selfSigned)?.contains("give it with --ca-file") == true)
        for key in [ErrorPhrase.Key.certificateExpired, .certificateNotYetValid, .otherName] {
            #expect(suggestion(key)?.contains("--ca-file") == false)
        }
        for key in [ErrorPhrase.Key.expired, .oldTLS, .wantsCertificate] { #expect(suggestion(key) == nil) }
    }
}
