import Testing

@testable import FerryEngine

@Suite("CertificateIssuer") struct CertificateIssuerTests {
    private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count
        let size: [UInt8] =
            length < 0x80 ? [UInt8(length)] : [0x82, UInt8(length >> 8), UInt8(length & 0xFF)]
        return [tag] + size + content
    }

    private func certificate(issuer: [UInt8], subject: [UInt8], hasVersion: Bool = true) -> [UInt8] {
        let version = hasVersion ? element(0xA0, element(0x02, [2])) : []
        let fields =
            version + element(0x02, [16, 4]) + element(0x30, [6, 1, 42]) + element(0x30, issuer)
            + element(0x30, [23, 0, 23, 0]) + element(0x30, subject) + element(0x30, [3, 1, 0])
        return element(0x30, element(0x30, fields) + element(0x30, [6, 1, 42]) + element(0x03, [0, 1]))
    }

    @Test("CertificateIssuer: a certificate whose issuer is its subject is signed by itself", arguments: [true, false])
    func names(hasVersion: Bool) {
        let (long, short) = ([UInt8](repeating: 7, count: 300), [UInt8](repeating: 7, count: 299))
        func isSelfSigned(_ issuer: [UInt8], _ subject: [UInt8]) -> Bool {
            CertificateIssuer.isSelfSigned(certificate(issuer: issuer, subject: subject, hasVersion: hasVersion))
        }
        #expect(isSelfSigned([49, 1, 65], [49, 1, 65]))
        #expect(isSelfSigned(long, long))
        #expect(!isSelfSigned([49, 1, 65], [49, 1, 66]))
        #expect(!isSelfSigned(long, short))
        #expect(!isSelfSigned([], []))
    }

    @Test("CertificateIssuer: bytes that are cut off or not a certificate are not signed by itself")
    func hostile() {
        let whole = certificate(issuer: [49, 1, 65], subject: [49, 1, 65])
        for count in whole.indices { #expect(!CertificateIssuer.isSelfSigned(Array(whole.prefix(count)))) }
        for tag in [0x84, 0xFF] as [UInt8] {
            #expect(!CertificateIssuer.isSelfSigned([0x30, tag] + [UInt8](repeating: 0xFF, count: 200)))
        }
        #expect(!CertificateIssuer.isSelfSigned(Array("-----BEGIN CERTIFICATE-----".utf8)))
    }
}
