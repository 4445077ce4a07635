/// A supported challenge of the Digest scheme (RFC 7616).
package struct DigestChallenge: Sendable, Hashable {
    /// The algorithm of `response`.
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"

        package var digest: DigestAlgorithm {
            switch self {
            case .md5, .md5Session: .md5
            case .sha256, .sha256Session: .sha256
            }
        }

        package var isSession: Bool { self == .md5Session || self == .sha256Session }

        /// The strength of the digest; the stronger algorithm is preferred.
        package var strength: Int { digest.strength }
    }

    package let realm: String
    package let nonce: String
    package let algorithm: Algorithm
    /// Whether the server specified the algorithm; the response then specifies it too.
    package let namesAlgorithm: Bool
    /// Whether `qop=auth` is used; false for RFC 2069 servers, which do not offer it.
    package let protectsRequest: Bool
    package let opaque: String?
    /// Whether only the nonce had expired; the same credentials may be sent once more.
    package let isStale: Bool
    /// Whether the user name is sent as a hash.
    package let hashesUser: Bool

    /// Returns `nil` for another scheme, a missing nonce, or an unsupported algorithm or qop.
    package init?(_ challenge: AuthChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let nonce = parameters["nonce"], !nonce.isEmpty else { return nil }
        if let name = parameters["algorithm"]?.asciiLowercased {
            guard let known = Algorithm.allCases.first(where: { $0.rawValue.asciiLowercased == name }) else {
                return nil
            }
            algorithm = known
        } else {
            algorithm = .md5
        }
        namesAlgorithm = parameters["algorithm"] != nil
        let offers = parameters["qop"].map { qop in
            qop.utf8.split(whereSeparator: { $0 == UInt8(ascii: ",") || ASCII.isBlank($0) })
                .map { Substring($0).asciiLowercased }
        }
        guard offers?.isEmpty ?? true || offers?.contains("auth") ?? false else { return nil }
        protectsRequest = offers?.contains("auth") ?? false
        realm = parameters["realm"] ?? ""
        self.nonce = nonce
        opaque = parameters["opaque"]
        isStale = parameters["stale"]?.asciiLowercased == "true"
        hashesUser = parameters["userhash"]?.asciiLowercased == "true"
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization`.
    ///
    /// - Parameters:
    ///   - uri: The request target as sent: `/path?query`, or `host:port` for CONNECT.
    ///   - nonceCount: The number of requests sent with this nonce, including this one; 1 or more.
    ///   - cnonce: Random text from the client, new for each nonce.
    ///   - hash: Returns the raw digest of bytes.
    package func authorization(
        method: String, uri: String, credentials: Credentials, nonceCount: Int, cnonce: String,
        hash: (DigestAlgorithm, [UInt8]) -> [UInt8]
    ) -> String {
        func hexHash(_ text: String) -> String { HexText.string(hash(algorithm.digest, Array(text.utf8))) }
        var secret = hexHash("\(credentials.user):\(realm):\(credentials.password)")
        if algorithm.isSession { secret = hexHash("\(secret):\(nonce):\(cnonce)") }
        let request = hexHash("\(method):\(uri)")
        let count = Self.eightDigits(nonceCount)
        let proof = protectsRequest ? "\(nonce):\(count):\(cnonce):auth" : nonce
        let response = hexHash("\(secret):\(proof):\(request)")

        let user = hashesUser ? hexHash("\(credentials.user):\(realm)") : credentials.user
        var fields = [
            "username=\(Self.quote(user))", "realm=\(Self.quote(realm))", "nonce=\(Self.quote(nonce))",
            "uri=\(Self.quote(uri))",
        ]
        if namesAlgorithm { fields.append("algorithm=\(algorithm.rawValue)") }
        if protectsRequest { fields += ["qop=auth", "nc=\(count)"] }
        if protectsRequest || algorithm.isSession { fields.append("cnonce=\(Self.quote(cnonce))") }
        fields.append("response=\"\(response)\"")
        if let opaque { fields.append("opaque=\(Self.quote(opaque))") }
        if hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private static func eightDigits(_ count: Int) -> String {
        let digits = String(UInt32(truncatingIfNeeded: count), radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// Returns a quoted string (RFC 9110 §5.6.4) without control bytes, which would break the field.
    private static func quote(_ text: String) -> String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 where !ASCII.isControl(byte) {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }
}
