package import FerryCore

/// A request body of a client.
package protocol ClientBody: Decodable, Sendable {
    associatedtype CodingKeys: CodingKey & CaseIterable
    /// The names of the members that the body may have; by default all.
    static var memberNames: Set<String> { get }
}

extension ClientBody {
    package static var memberNames: Set<String> { Set(CodingKeys.allCases.map(\.stringValue)) }
}

/// A request body that is refused if it has unknown members, so that a misspelt name is not ignored.
package struct Strict<Body: ClientBody>: Decodable, Sendable {
    package let body: Body

    package init(from decoder: any Decoder) throws {
        let known = Body.memberNames
        for key in try decoder.container(keyedBy: AnyMember.self).allKeys where !known.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "the member \(ForeignText.quote(key.stringValue)) is not known"))
        }
        body = try Body(from: decoder)
    }
}

extension KeyedDecodingContainer {
    // The synthesized initializers of this module call these methods in place of those of the standard library, so that errors
    // name the member.

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try contains(key) && !decodeNil(forKey: key) ? decodeNamed(type, forKey: key) : nil
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try contains(key) && !decodeNil(forKey: key)
            ? decodeNamed(
                type, forKey: key,
                between: ("\(-Double.greatestFiniteMagnitude)", "\(Double.greatestFiniteMagnitude)")) : nil
    }
}

extension ListPlacement: ClientBody {}
extension DownloadRequest: ClientBody {}
extension RequestChange: ClientBody {}
