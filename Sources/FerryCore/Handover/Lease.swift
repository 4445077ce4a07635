/// The random number of a lease. It identifies the lease in a task of the system, and the file that landed for it.
package struct LeaseNumber: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// 16 lower-case hexadecimal digits.
    package var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Parses ``description``; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 16, let value = UInt64(text, radix: 16) else { return nil }
        self.init(rawValue: value)
        guard description.utf8.elementsEqual(text.utf8) else { return nil }
    }

    package static func < (lhs: LeaseNumber, rhs: LeaseNumber) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A part of a download that one task of the system fetches while the app is suspended.
///
/// A lease is not a claim: it records a request, and nothing about the bytes on the disk.
package struct Lease: Hashable, Sendable {
    /// The maximum length of a download's identifier in bytes of UTF-8, as for requests.
    package static let maxIDBytes = 256
    /// The maximum length of a validator in bytes: an ``EntityTag`` with its quotes, or a date.
    package static let maxValidatorBytes = 1026

    package let number: LeaseNumber
    package let download: DownloadID
    /// The requested bytes, not empty; `nil` for the whole file, if no part of it was present.
    package let range: Range<ByteCount>?
    /// The strong validator that the request sent as If-Range; `nil` for the whole file.
    package let validator: String?
    /// The size of the whole file in bytes; `nil` if it was unknown.
    package let total: ByteCount?

    /// Creates a lease; `nil` if its values contradict each other or are out of bounds.
    package init?(
        number: LeaseNumber, download: DownloadID, range: Range<ByteCount>?, validator: String?, total: ByteCount?
    ) {
        guard !download.rawValue.isEmpty, download.rawValue.utf8.count <= Self.maxIDBytes, download.isOneLine,
            total?.isSize ?? true
        else { return nil }
        if let range {
            // A range is leased only with a validator that proves its bytes.
            guard let validator, Self.isStrong(validator), let total, range.lowerBound >= 0, !range.isEmpty,
                range.upperBound <= total
            else { return nil }
        } else if validator != nil {
            return nil
        }
        self.number = number
        self.download = download
        self.range = range
        self.validator = validator
        self.total = total
    }

    /// The number of requested bytes; `nil` if it is unknown.
    package var bytes: ByteCount? { range.map { $0.upperBound - $0.lowerBound } ?? total }

    /// The bytes that the lease reserves, so that other transfers do not fetch them.
    package var reserved: Range<ByteCount> { range ?? 0..<(total ?? ByteCount.bound) }

    private static func isStrong(_ validator: String) -> Bool {
        guard validator.utf8.count <= maxValidatorBytes else { return false }
        if let tag = EntityTag(validator) { return !tag.isWeak }
        return HTTPDate.parse(validator) != nil
    }
}

extension Lease: Codable {
    private enum CodingKeys: String, CodingKey { case number, download, range, validator, total }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try container.decode(String.self, forKey: .number)
        let pair = try container.decodeIfPresent([ByteCount].self, forKey: .range)
        let bounds = try pair.map { pair in
            guard pair.count == 2, pair[0] >= 0, pair[0] < pair[1] else {
                throw DecodingError.dataCorruptedError(
                    forKey: .range, in: container, debugDescription: "a range that is not two ascending numbers")
            }
            return pair[0]..<pair[1]
        }
        guard let number = LeaseNumber(text),
            let lease = Lease(
                number: number, download: try container.decode(DownloadID.self, forKey: .download), range: bounds,
                validator: try container.decodeIfPresent(String.self, forKey: .validator),
                total: try container.decodeIfPresent(ByteCount.self, forKey: .total))
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .number, in: container, debugDescription: "values that no lease has")
        }
        self = lease
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number.description, forKey: .number)
        try container.encode(download, forKey: .download)
        try container.encodeIfPresent(range.map { [$0.lowerBound, $0.upperBound] }, forKey: .range)
        try container.encodeIfPresent(validator, forKey: .validator)
        try container.encodeIfPresent(total, forKey: .total)
    }
}

/// The description of a task in the system's session: `ferry-lease 1 NUMBER DOWNLOAD`. It contains no path and no
/// secret.
package struct LeaseTicket: Hashable, Sendable {
    package let number: LeaseNumber
    package let download: DownloadID

    package init(_ lease: Lease) { (number, download) = (lease.number, lease.download) }

    package var text: String { "ferry-lease 1 \(number) \(download)" }

    /// Parses ``text``; `nil` for anything else, such as the description of one of the app's own tasks.
    package init?(_ text: String) {
        guard text.utf8.count <= Lease.maxIDBytes + 64 else { return nil }
        let words = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, words[0].elementsEqual("ferry-lease".utf8), words[1].elementsEqual("1".utf8),
            let number = LeaseNumber(Substring(words[2])), !words[3].isEmpty
        else { return nil }
        self.number = number
        download = DownloadID(rawValue: String(Substring(words[3])))
        guard download.isOneLine else { return nil }
    }
}

/// All leases of a manager, in the form in which they are stored before tasks start and after each lease has ended.
///
/// Decoding checks every value; a book that breaks a rule is refused as a whole. The tasks of its leases are then
/// unknown and are cancelled, and the app fetches their ranges.
package struct LeaseBook: Hashable, Sendable, Codable {
    package static let currentVersion = 1
    /// The maximum number of leases, more than the tasks that are started in one batch.
    package static let maxLeases = 128
    /// The maximum size of the stored form in bytes.
    package static let maxBytes = 512 * 1024

    /// The leases in ascending order of their numbers.
    package let leases: [Lease]

    /// Creates a book; `nil` for too many leases, a duplicate number, or overlapping leases of one download.
    package init?(_ leases: [Lease]) {
        guard leases.count <= Self.maxLeases, Set(leases.map(\.number)).count == leases.count else { return nil }
        var reserved: [DownloadID: RangeSet<ByteCount>] = [:]
        for lease in leases {
            guard reserved[lease.download]?.intersection(RangeSet(lease.reserved)).isEmpty ?? true else { return nil }
            reserved[lease.download, default: RangeSet()].insert(contentsOf: lease.reserved)
        }
        self.leases = leases.sorted { $0.number < $1.number }
    }

    private init() { leases = [] }

    package static let empty = LeaseBook()

    private enum CodingKeys: String, CodingKey { case version, leases }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Self.currentVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container, debugDescription: "leases of version \(version)")
        }
        guard let book = LeaseBook(try container.decode([Lease].self, forKey: .leases)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .leases, in: container, debugDescription: "leases that contradict each other")
        }
        self = book
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encode(leases, forKey: .leases)
    }
}
