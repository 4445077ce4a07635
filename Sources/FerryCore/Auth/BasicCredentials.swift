/// The Basic scheme (RFC 7617).
package enum BasicCredentials {
    /// Returns the value of `Authorization` or `Proxy-Authorization`: `Basic` and the Base64 of `user:password` in
    /// UTF-8.
    package static func header(_ credentials: Credentials) -> String {
        "Basic " + base64(Array("\(credentials.user):\(credentials.password)".utf8))
    }

    /// RFC 4648 §4, with padding.
    static func base64(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset)) }
            for place in 0..<4 {
                let sextet = Int(bits >> (18 - 6 * UInt32(place)) & 63)
                output.append(place <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
