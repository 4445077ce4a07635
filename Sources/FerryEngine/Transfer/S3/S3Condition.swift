import HTTPTypes

/// The condition for joining parts of an object. Stores support If-Match, but not all of them support If-Range. Therefore a
/// range is requested with If-Match; if the object has changed, the whole new object is requested, as with If-Range.
struct S3Condition {
    var fields: HTTPFields
    private var isRange = false

    /// Whether the whole object is requested.
    var isWhole: Bool { fields[.range] == nil }

    init(_ fields: HTTPFields) {
        self.fields = fields
        guard let validator = fields[.ifRange] else { return }
        self.fields[.ifRange] = nil
        isRange = true
        if validator.utf8.contains(UInt8(ascii: "\"")) {
            self.fields[.ifMatch] = validator
        } else {
            self.fields[.ifUnmodifiedSince] = validator
        }
    }

    /// Drops the range and its condition. Returns `false` if there are none.
    mutating func dropRange() -> Bool {
        guard isRange else { return false }
        isRange = false
        (fields[.ifMatch], fields[.ifUnmodifiedSince], fields[.range]) = (nil, nil, nil)
        return true
    }
}

extension HTTPField.Name {
    /// The field that requests the checksums of an object in the response.
    static let checksumMode = objectField("x-amz-checksum-mode")
    static let checksumSHA256 = objectField("x-amz-checksum-sha256")
    static let checksumAlgorithm = objectField("x-amz-sdk-checksum-algorithm")
    static let multipartChecksumAlgorithm = objectField("x-amz-checksum-algorithm")

    private static func objectField(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field name") }
        return name
    }
}
