import Crypto
package import FerryAPI
package import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Data
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Data
    package import struct Foundation.Date
#endif

/// The tokens that grant access to the API over TCP, one for each signed-in browser.
///
/// A token is 256 random bits. The file, with mode 0600, stores only SHA-256 digests, so a copy of the state reveals no token. A
/// withdrawn token is refused at once, even if the file cannot be written.
package final class TokenStore: Sendable {
    /// The maximum number of tokens; a new one displaces the least recently used one.
    package static let mostTokens = 64
    /// The time without use after which a token expires, in seconds.
    package static let lifetime: Double = 30 * 86_400
    /// The minimum interval between writes of a token's last use, in seconds.
    static let usePrecision: Double = 3600
    private static let mostBytes = 1 << 20

    /// The stored form of a token.
    private struct Entry: Codable, Hashable {
        var id: String
        /// SHA-256 of the token's text, in hexadecimal digits.
        var digest: String
        var name: String
        var madeAt: Date
        var lastUsed: Date
        /// The last use recorded in the file.
        var writtenUse: Date

        func hasExpired(at now: Date) -> Bool { now.timeIntervalSince(lastUsed) > TokenStore.lifetime }
    }

    /// A new token and its identifier, as sent to the browser.
    package struct Grant: Sendable, Hashable {
        package var id: String
        package var token: String
    }

    private let file: PrivateFile
    private let entries: Mutex<[Entry]>
    private let changes = FileChanges()

    /// Reads the file. A file that is not private or not readable counts as empty, and every browser must sign in again.
    package init(_ path: String) {
        file = PrivateFile(path, most: Self.mostBytes)
        let text = file.read()
        let read = text.flatMap { try? JSONCoding.decode([Entry].self, from: Data($0.utf8)) }
        entries = Mutex(Array((read ?? []).prefix(Self.mostTokens)))
    }

    /// Creates a token for a browser of this name. Returns the token with the identifiers of the tokens that it displaced.
    ///
    /// Throws `disk` or `diskFull` if the file cannot be written; the token is then not valid.
    package func make(
        named name: String, at now: Date
    ) async throws(DownloadError) -> (grant: Grant, withdrawn: [String]) {
        let token = RandomText.hex(bytes: 32)
        let entry = Entry(
            id: RandomText.hex(bytes: 8), digest: Self.digest(token), name: name, madeAt: now, lastUsed: now,
            writtenUse: now)
        let withdrawn = try await changes.run { () throws(DownloadError) in
            let old = self.entries.withLock { $0 }
            let valid = old.filter { !$0.hasExpired(at: now) }.sorted { $0.lastUsed > $1.lastUsed }
            let kept = [entry] + valid.prefix(Self.mostTokens - 1)
            try self.write(kept)
            let withdrawn = Set(old.map(\.id)).subtracting(kept.map(\.id))
            // Tokens may be used and withdrawn while the file is written.
            self.entries.withLock { $0 = [entry] + $0.filter { !withdrawn.contains($0.id) } }
            return withdrawn.sorted()
        }
        return (Grant(id: entry.id, token: token), withdrawn)
    }

    /// Returns the identifier of the token in a single `Authorization: Bearer TOKEN` field (RFC 6750 §2.1); `nil`
    /// if there is no valid token. Compares all tokens, so that the timing reveals nothing.
    package func identify(_ fields: [String], at now: Date) async -> String? {
        guard let token = Self.token(in: fields) else { return nil }
        let digest = Self.digest(token)
        let (id, isDue): (String?, Bool) = entries.withLock { entries in
            var found: Int?
            for (index, entry) in entries.enumerated() where ConstantTime.areEqual(entry.digest, digest) {
                found = index
            }
            guard let found, !entries[found].hasExpired(at: now) else { return (nil, false) }
            // Follows the clock even if it was set back.
            entries[found].lastUsed = now
            let isDue = abs(now.timeIntervalSince(entries[found].writtenUse)) > Self.usePrecision
            if isDue { for index in entries.indices { entries[index].writtenUse = entries[index].lastUsed } }
            return (entries[found].id, isDue)
        }
        // A failed write loses only the time of the last use.
        if isDue { try? await changes.run { () throws(DownloadError) in try self.writeCurrent() } }
        return id
    }

    /// Returns the token in a single `Authorization: Bearer TOKEN` field; `nil` otherwise.
    static func token(in fields: [String]) -> Substring? {
        guard fields.count == 1 else { return nil }
        let parts = fields[0].split(at: " ", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
    }

    /// Whether the list contains a token with this identifier.
    package func contains(_ id: String) -> Bool { entries.withLock { $0.contains { $0.id == id } } }

    /// Returns the valid tokens, the most recently used first. `own` identifies the token of the request.
    package func list(own: String?, at now: Date) -> [TokenItem] {
        entries.withLock { $0 }.filter { !$0.hasExpired(at: now) }.sorted { $0.lastUsed > $1.lastUsed }.map {
            TokenItem(id: $0.id, name: $0.name, madeAt: $0.madeAt, lastUsed: $0.lastUsed, isOwn: $0.id == own)
        }
    }

    /// Withdraws a token. Returns false if no token has this identifier. Throws `disk` if the file still contains the token, which
    /// is then refused until the daemon exits.
    package func withdraw(_ id: String) async throws(DownloadError) -> Bool {
        let isKnown = entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
            entries.remove(at: index)
            return true
        }
        guard isKnown else { return false }
        try await changes.run { () throws(DownloadError) in try self.writeCurrent() }
        return true
    }

    private func writeCurrent() throws(DownloadError) { try write(entries.withLock { $0 }) }

    private func write(_ entries: [Entry]) throws(DownloadError) {
        let text: String
        do { text = String(decoding: try JSONCoding.encode(entries), as: UTF8.self) } catch {
            throw DownloadError(.internal, "the tokens cannot be written", underlying: "\(error)")
        }
        try file.write(text)
    }

    private static func digest(_ token: some StringProtocol) -> String {
        SHA256.hash(data: Array(token.utf8)).map { RandomText.hex($0) }.joined()
    }
}

/// Comparison of secrets in constant time.
enum ConstantTime {
    /// Whether two strings are equal, in a time that depends only on their length.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(one, other) { difference |= a ^ b }
        return difference == 0
    }
}

/// Unpredictable strings for tokens, codes and temporary names.
enum RandomText {
    /// Returns `count` bytes from the system's random number generator, as lower-case hexadecimal digits.
    static func hex(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in hex(UInt8.random(in: 0...255, using: &generator)) }.joined()
    }

    /// Returns a byte as two lower-case hexadecimal digits.
    static func hex(_ byte: UInt8) -> String { String(UInt16(byte) + 0x100, radix: 16).dropFirst().description }
}
