import Configuration
import FerryAPI
import Foundation

/// The settings file as it is written: each member is of the type that it has there.
///
/// What Configuration itself reads JSON with takes `true` for 1, and 1 for `true`.
struct SettingsSnapshot: FileConfigSnapshot {
    struct ParsingOptions: FileParsingOptions {
        static let `default` = ParsingOptions()
    }

    let providerName: String
    private let members: [String: JSONValue]

    /// Throws when that is no JSON object.
    init(data: RawSpan, providerName: String, parsingOptions: ParsingOptions) throws {
        self.providerName = providerName
        members = try JSONDecoder().decode([String: JSONValue].self, from: data.withUnsafeBytes { Data($0) })
    }

    /// Throws for a member of another type. Whatever is there can be asked for as bytes, and gives none.
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = key.components.joined(separator: ".")
        let content = try members[name]?.content(as: type)
        return LookupResult(encodedKey: name, value: content.map { ConfigValue($0, isSecret: false) })
    }

    var description: String { "\(providerName)[\(members.count) members]" }
    var debugDescription: String { description }
}

extension JSONValue {
    /// The setting that it is; `nil` for null, which is as if it were not there.
    fileprivate func content(as type: ConfigType) throws -> ConfigContent? {
        switch (self, type) {
        case (.null, _): return nil
        case (_, .bytes): return .bytes([])
        case (.flag(let flag), .bool): return .bool(flag)
        case (.whole(let number), .int): return .int(number)
        case (.whole(let number), .double): return .double(Double(number))
        case (.number(let number), .double): return .double(number)
        case (.text(let text), .string): return .string(text)
        case (.list(let items), .stringArray):
            return .stringArray(
                try items.map { item in
                    guard case .text(let text) = item else { throw OtherType() }
                    return text
                })
        default: throw OtherType()
        }
    }
}

/// It is there, with another type than was asked for.
private struct OtherType: Error {}
