import FerryAPI
import Foundation

/// What can be said of a settings file by its text alone. Pure.
enum SettingsVerdict: Sendable, Hashable {
    case usable
    /// No JSON object: it cannot be used.
    case noObject
    /// It can be used, but for these members, that nobody knows; by the alphabet.
    case unknown([String])

    /// The members of the file.
    static let members = Set(
        SettingsChange.memberNames + ["allowedDirectories", "allowsPrivate", "onComplete", "port", "loopback"])

    static func of(_ text: Data) -> SettingsVerdict {
        guard let object = (try? JSONSerialization.jsonObject(with: text)) as? [String: Any] else { return .noObject }
        let unknown = object.keys.filter { !members.contains($0) }.sorted()
        return unknown.isEmpty ? .usable : .unknown(unknown)
    }
}
