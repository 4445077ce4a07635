import NIOSSL

/// The certificate of the server. All are P-256 and, except for `wrongHost`, valid for localhost, 127.0.0.1 and ::1.
///
/// Made with OpenSSL 3: for each `openssl ecparam -name prime256v1 -genkey`, `openssl req -new -key … -addext
/// subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1`, signed by `openssl ca -keyfile ca.key.pem -cert ca.pem -startdate
/// 20200101000000Z -enddate 21200101000000Z` (the expired one: 2001 to 2002; the self-signed one: `-selfsign`). The key
/// of the test CA was not kept. These keys protect nothing.
public enum Certificate: String, Sendable, Hashable, CaseIterable {
    /// Valid, signed by the test CA `OriginServer.caPEM`.
    case good
    /// Signed by the test CA for `elsewhere.test`.
    case wrongHost
    /// Signed by the test CA, expired in 2002.
    case expired
    /// Self-signed.
    case selfSigned
    /// Self-signed, valid from 2100 on.
    case early

    /// The certificate and its key in PEM format.
    var pem: (certificate: String, key: String) {
        switch self {
        case .good: (Self.goodCertificate, Self.goodKey)
        case .wrongHost: (Self.wrongHostCertificate, Self.wrongHostKey)
        case .expired: (Self.expiredCertificate, Self.expiredKey)
        case .selfSigned: (Self.selfSignedCertificate, Self.selfSignedKey)
        case .early: (Self.earlyCertificate, Self.earlyKey)
        }
    }

    /// Returns a TLS context with this certificate; with `isOld` for at most TLS 1.1.
    func context(isOld: Bool) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(pem.certificate.utf8)).map {
            NIOSSLCertificateSource.certificate($0)
        }
        let key = try NIOSSLPrivateKey(bytes: Array(pem.key.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        if isOld {
            configuration.minimumTLSVersion = .tlsv1
            configuration.maximumTLSVersion = .tlsv11
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

extension Certificate {
    /// The certificate of the test CA.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBYzCCAQqgAwIBAgICEAAwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNRmVycnkg
        dGVzdCBDQTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGDEWMBQG
        A1UEAwwNRmVycnkgdGVzdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPQF
        Lbh4vC6Ip4FYqSvPNqKE5Ob1S2GNbTTdcb1SpTBmMN6x8eH2k7ohzPDFQmQ6kxMx
        KZ5S852QfL6Zc/16sPWjQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQD
        AgEGMB0GA1UdDgQWBBSDAW4uMb7SDTb4z0i7imbm9B7kljAKBggqhkjOPQQDAgNH
        ADBEAiAsFxkM/6cGfhYAs7BtIldG/rdJGCNoYh3s+iYT/N+4wAIgXSuVurJelNOR
        dv6/rxDf2o2uTSJsAnNypG4KDyt+GTU=
        -----END CERTIFICATE-----
        """
    fileprivate static let goodCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBtTCCAVugAwIBAgICEAEwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNRmVycnkg
        dGVzdCBDQTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAG
        A1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWf71e+hW
        S8c2Af2DqvBtsVKz5qL7tXGyrSg76LvsImiYgdwHaxrfdMJq2K1vsrUBfkxt1YwO
        BzmFD651Eiw+nKOBljCBkzAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAA
        AAAAAAAAAAAAAAAAAAEwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUF
        BwMBMB0GA1UdDgQWBBSLJsdQgrB9WmU2OKduU6WbLHvjmzAfBgNVHSMEGDAWgBSD
        AW4uMb7SDTb4z0i7imbm9B7kljAKBggqhkjOPQQDAgNIADBFAiEA8fiP0Jnz+oWr
        6xt4sqhrB8OMl9i60J+J8aPQke4GtMYCIAr/UhyJWQ76a7h1iRXs4ik5PQRzFEJ8
        diR7vRgBmNoS
        -----END CERTIFICATE-----
        """
    fileprivate static let goodKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2F3wyezxXfVmVRz7
        0XvKVbRhUymqjysLBCwXbLJnY7ShRANCAARZ/vV76FZLxzYB/YOq8G2xUrPmovu1
        cbKtKDvou+wiaJiB3AdrGt90wmrYrW+ytQF+TG3VjA4HOYUPrnUSLD6c
        -----END PRIVATE KEY-----
        """
    fileprivate static let wrongHostCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBpzCCAU2gAwIBAgICEAIwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNRmVycnkg
        dGVzdCBDQTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGTEXMBUG
        A1UEAwwOZWxzZXdoZXJlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATa
        KxOKfSIdFfLpVIBpw/lExHDSm90Wg5hYeY9UkcxFZHtipRhKsLP0yCKHbtkyUL2p
        qP/91l6rA/ulBjdUfcMTo4GDMIGAMBkGA1UdEQQSMBCCDmVsc2V3aGVyZS50ZXN0
        MA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQU
        5LYdLzuYy3Yx1UyTm+fnySZMaL4wHwYDVR0jBBgwFoAUgwFuLjG+0g02+M9Iu4pm
        5vQe5JYwCgYIKoZIzj0EAwIDSAAwRQIgSrU0jZ9KD77rPCi7euPfGLGlhLSuQwy/
        lePSJIJIZIoCIQDUFY9+5yXWFRIB3NE58to16rlEi1DmYIk9Xgb/lJQoIw==
        -----END CERTIFICATE-----
        """
    fileprivate static let wrongHostKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBSNOOFxRpABpepkn
        llqXCEU7Sqr4TzCLNrj+HNhaQ+mhRANCAATaKxOKfSIdFfLpVIBpw/lExHDSm90W
        g5hYeY9UkcxFZHtipRhKsLP0yCKHbtkyUL2pqP/91l6rA/ulBjdUfcMT
        -----END PRIVATE KEY-----
        """
    fileprivate static let expiredCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBtDCCAVmgAwIBAgICEAMwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNRmVycnkg
        dGVzdCBDQTAeFw0wMTAxMDEwMDAwMDBaFw0wMjAxMDEwMDAwMDBaMBQxEjAQBgNV
        BAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFcpjZcpjvKJ
        I3ocmqwjNUnDIGzMzew/OfabOv2OTuspK+pwjsnqK68fBy4YAUhGcD/xcVipfV4X
        QLGqQkKY08WjgZYwgZMwLAYDVR0RBCUwI4IJbG9jYWxob3N0hwR/AAABhxAAAAAA
        AAAAAAAAAAAAAAABMA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcD
        ATAdBgNVHQ4EFgQUrdncfSsBUvyDXo1+nxrhI2BIg5owHwYDVR0jBBgwFoAUgwFu
        LjG+0g02+M9Iu4pm5vQe5JYwCgYIKoZIzj0EAwIDSQAwRgIhALjL0XBmdO9Ve/7h
        H/RzZxv34Od/ZKs25F0eXIxFW4ThAiEA3H6COK0oOHatHnYhODPnIximLkwL+xgj
        KPrtE/b4RTQ=
        -----END CERTIFICATE-----
        """
    fileprivate static let expiredKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+exV5+QmL3E4iajX
        Ne4O8rjxNOmubbHXI2jA6S7MJi6hRANCAARXKY2XKY7yiSN6HJqsIzVJwyBszM3s
        Pzn2mzr9jk7rKSvqcI7J6iuvHwcuGAFIRnA/8XFYqX1eF0CxqkJCmNPF
        -----END PRIVATE KEY-----
        """
    fileprivate static let selfSignedCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBjjCCATSgAwIBAgICEAQwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
        b3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIwEAYDVQQD
        DAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQMrqfn2HpblULY
        byOwPtnwlQYuirO4CvBrrQYJLV9kesZRg3G/n+axR+0CWXkQcaGmF9WYdd+b+s7I
        +HkB1Klqo3QwcjAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAA
        AAAAAAAAAAEwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0G
        A1UdDgQWBBS2TKRQpw/pCTuJJKxrSAGxcQnuyTAKBggqhkjOPQQDAgNIADBFAiAY
        yBVIv/rYniGr0lZ0rPbUVJJn2muQ33hSYtcz3ugJ2gIhAOpMQZd6LPKfRrB7xvDQ
        4udtxWGe3M18e1csnyuaUANW
        -----END CERTIFICATE-----
        """
    fileprivate static let selfSignedKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgo4c4ksCZr/5WSoXv
        dfzNUzeZ5FSNYmoo5gathyqtQOShRANCAAQMrqfn2HpblULYbyOwPtnwlQYuirO4
        CvBrrQYJLV9kesZRg3G/n+axR+0CWXkQcaGmF9WYdd+b+s7I+HkB1Klq
        -----END PRIVATE KEY-----
        """
    fileprivate static let earlyCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBazCCARGgAwIBAgICIAEwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
        b3N0MCIYDzIxMDAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNV
        BAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIzmlS0wBDJa
        obhGiCmKyfUkL2k6c5uA3xsRN838Wcy2GD0Gxo6l3fePbwPeXxhO+WcSpLzI/55C
        3GIh0psxY3SjTzBNMCwGA1UdEQQlMCOCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAA
        AAAAAAAAAAAAATAdBgNVHQ4EFgQUKk0z80TQlOetY4+qn8nXHzRt54IwCgYIKoZI
        zj0EAwIDSAAwRQIhAPSUD4j6z9srKKwQwaN0eDgrRskuE2J+1m3MPNmqneJRAiBD
        1YtDbtN54yD7QmGqzJKUU4hc6WSSwg9aqqfBFZf+jg==
        -----END CERTIFICATE-----
        """
    fileprivate static let earlyKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLffP56TTlxRUTC4K
        bbW4CDrkreDNTqflG4kIzYjo376hRANCAASM5pUtMAQyWqG4Rogpisn1JC9pOnOb
        gN8bETfN/FnMthg9BsaOpd33j28D3l8YTvlnEqS8yP+eQtxiIdKbMWN0
        -----END PRIVATE KEY-----
        """
}
