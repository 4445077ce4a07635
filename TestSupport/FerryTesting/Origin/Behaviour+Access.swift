import Foundation

extension Behaviour {
    /// 401 unless the request carries this user and password as Basic (RFC 7617).
    public static func basicAuth(_ user: String, _ password: String, realm: String = "ferry") -> Behaviour {
        Behaviour { answer, request, _ in
            if request["Authorization"] == "Basic \(base64("\(user):\(password)"))" { return }
            answer = .page(
                401, "<html>who are you</html>", fields: [Field("WWW-Authenticate", "Basic realm=\"\(realm)\"")])
        }
    }

    /// The hash algorithms of Digest authentication.
    public enum DigestAlgorithm: String, Sendable {
        /// RFC 2617.
        case md5 = "MD5"
        /// RFC 7616.
        case sha256 = "SHA-256"

        func hex(_ text: String) -> String {
            switch self {
            case .md5: return MD5.hex(text)
            case .sha256:
                var hash = SHA256Stream()
                hash.update(text.utf8)
                return Hex.text(hash.finished())
            }
        }
    }

    /// 401 unless the request responds to the challenge with Digest and qop=auth (RFC 7616); the nonce is fixed.
    public static func digestAuth(
        _ user: String, _ password: String, realm: String = "ferry", algorithm: DigestAlgorithm = .md5
    ) -> Behaviour {
        Behaviour { answer, request, _ in
            let nonce = "0a4f113b"
            if let field = request["Authorization"], field.hasPrefix("Digest ") {
                let given = parameters(field.dropFirst(7))
                let first = algorithm.hex("\(user):\(realm):\(password)")
                let second = algorithm.hex("\(request.method):\(request.target)")
                let count = given["nc"] ?? ""
                let expected = algorithm.hex("\(first):\(nonce):\(count):\(given["cnonce"] ?? ""):auth:\(second)")
                if given["username"] == user, given["nonce"] == nonce, given["uri"] == request.target,
                    given["response"] == expected
                {
                    return
                }
            }
            let challenge =
                "Digest realm=\"\(realm)\", qop=\"auth\", algorithm=\(algorithm.rawValue), nonce=\"\(nonce)\", opaque=\"5c\""
            answer = .page(401, "<html>who are you</html>", fields: [Field("WWW-Authenticate", challenge)])
        }
    }

    /// 403 unless the request's Cookie field contains `name=value`.
    public static func requireCookie(_ name: String, _ value: String) -> Behaviour {
        .require("Cookie") { field in
            field.split(separator: ";").contains { RequestHead.trimmed($0) == "\(name)=\(value)" }
        }
    }

    /// This status (403) unless the request has the field with a value that satisfies the condition.
    public static func require(
        _ name: String, status: Int = 403, _ isRight: @escaping @Sendable (String) -> Bool
    ) -> Behaviour {
        Behaviour { answer, request, _ in
            if let value = request[name], isRight(value) { return }
            answer = .page(status, "<html>not without \(name)</html>")
        }
    }

    /// Parses the `name=value, name="value"` list of a Digest field.
    static func parameters(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = RequestHead.trimmed(rest[..<equals]).lowercased()
            rest = rest[rest.index(after: equals)...]
            if rest.first == "\"" {
                rest.removeFirst()
                let end = rest.firstIndex(of: "\"") ?? rest.endIndex
                result[name] = String(rest[..<end])
                rest = rest[end...].dropFirst()
            } else {
                let end = rest.firstIndex(of: ",") ?? rest.endIndex
                result[name] = RequestHead.trimmed(rest[..<end])
                rest = rest[end...]
            }
            if let comma = rest.firstIndex(of: ",") { rest = rest[rest.index(after: comma)...] } else { break }
        }
        return result
    }

    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}
