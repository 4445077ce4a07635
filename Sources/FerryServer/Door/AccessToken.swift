package import FerryCore
import Foundation

/// The token that opens the API over TCP: 256 random bits, in a file of mode 0600 that outlives the daemon.
package struct AccessToken: Sendable {
    /// 64 hexadecimal digits.
    package let text: String

    package init(text: String) { self.text = text }

    /// A new one.
    package static func random() -> AccessToken { AccessToken(text: RandomText.hex(bytes: 32)) }

    /// Whether these are equal; takes as long whatever differs.
    package func matches(_ other: String) -> Bool {
        let own = Array(text.utf8)
        let others = Array(other.utf8)
        // The length is no secret.
        guard own.count == others.count else { return false }
        var difference: UInt8 = 0
        for (one, two) in zip(own, others) { difference |= one ^ two }
        return difference == 0
    }

    /// Whether `Authorization` carries it, as `Bearer TOKEN` (RFC 6750 §2.1); exactly one such field.
    package func isCarried(by fields: [String]) -> Bool {
        guard fields.count == 1 else { return false }
        let parts = fields[0].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return matches(String(parts[1]))
    }

    /// Reads the token, or makes one. Throws `disk` when the file cannot be read or written.
    ///
    /// One that others may read, or that is too short to be ours, is replaced.
    package static func load(_ path: String) throws(DownloadError) -> AccessToken {
        if let text = PrivateFile.read(path, most: 1024) {
            let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if token.utf8.count == 64, token.utf8.allSatisfy({ isxdigit(Int32($0)) != 0 }) {
                return AccessToken(text: token)
            }
        }
        let token = random()
        try PrivateFile.write(token.text + "\n", to: path)
        return token
    }
}
