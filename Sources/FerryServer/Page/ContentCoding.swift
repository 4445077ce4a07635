import CZlib
import FerryCore
import HTTPTypes

/// The content coding of a response (RFC 9110 §8.4): gzip, if the request accepts it.
///
/// Bodies that contain secrets are never compressed, because the compressed size would depend on the secrets.
enum ContentCoding {
    /// The minimum number of bytes to compress; fewer bytes fit in one packet anyway.
    static let leastBytes = 1400

    /// Returns whether a request with these values of Accept-Encoding accepts gzip. Without the field, a server may send any
    /// coding. But programs that cannot read gzip omit the field, so a missing field counts as a refusal.
    static func acceptsGzip(_ values: [String]) -> Bool {
        var other = false
        for value in values {
            for element in value.split(at: ",") {
                let parts = element.split(at: ";").map { $0.trimmedText }
                let coding = parts.first?.lowercased() ?? ""
                let isRefused = parts.dropFirst().contains { isZero($0.lowercased()) }
                if coding == "gzip" || coding == "x-gzip" { return !isRefused }
                if coding == "*" { other = !isRefused }
            }
        }
        return other
    }

    /// Returns whether a parameter is a quality value of zero.
    private static func isZero(_ parameter: String) -> Bool {
        guard let value = Substring(parameter).dropping(prefix: "q=") else { return false }
        return !value.isEmpty && value.utf8.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }

    /// Returns the bytes compressed with gzip; `nil` if that would not make them smaller.
    /// - Parameter effort: 1 is fast, 9 is small.
    static func gzip(_ bytes: [UInt8], effort: Int32) -> [UInt8]? {
        guard bytes.count >= leastBytes else { return nil }
        let form = [UInt8](unsafeUninitializedCapacity: ferry_gzip_bound(bytes.count)) { room, count in
            count = bytes.withUnsafeBufferPointer {
                ferry_gzip($0.baseAddress, $0.count, effort, room.baseAddress, room.count)
            }
        }
        return form.isEmpty || form.count >= bytes.count ? nil : form
    }
}
