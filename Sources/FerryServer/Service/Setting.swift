import FerryAPI
import FerryCore
import Foundation

/// The name of a setting: its member in the settings file and, in capitals, its environment variable.
package enum Setting: String, Sendable, Codable, CodingKey, CodingKeyRepresentable, CaseIterable {
    case port, loopback, allowsPrivate
    case maxConcurrentDownloads, rateLimit, connectionsPerHost, allowsMetered, allowsConstrained, networkAssumption
    case retriesFailedAfter, minFreeBytes, proxy, directory, allowedDirectories, onComplete

    /// Whether a change applies at the next start only.
    var isFixed: Bool { [.port, .loopback, .allowsPrivate].contains(self) }

    private enum Form { case whole, number, flag, text, list }

    private var form: Form {
        switch self {
        case .port, .maxConcurrentDownloads, .rateLimit, .connectionsPerHost, .minFreeBytes: .whole
        case .retriesFailedAfter: .number
        case .loopback, .allowsPrivate, .allowsMetered, .allowsConstrained: .flag
        case .networkAssumption, .proxy, .directory: .text
        case .allowedDirectories, .onComplete: .list
        }
    }

    /// `FERRY_MAX_CONCURRENT_DOWNLOADS` for `maxConcurrentDownloads`.
    package var variable: String {
        rawValue.reduce(into: "FERRY_") { name, letter in
            if letter.isUppercase { name += "_" }
            name += letter.uppercased()
        }
    }

    /// The value of a variable; `nil` for a text of another form. Commas separate the items of a list. An empty
    /// text restores the default of a number or a Boolean.
    func value(of text: String) -> JSONValue? {
        switch form {
        case .text: return .text(text)
        case .list:
            let items = text.split(at: ",", omittingEmptySubsequences: false)
            return .list(items.map { .text($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
        case _ where text.isEmpty: return .null
        case .whole: return Int(text).map(JSONValue.whole)
        case .number: return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
        case .flag:
            switch text.lowercased() {
            case "true", "yes", "1": return .flag(true)
            case "false", "no", "0": return .flag(false)
            default: return nil
            }
        }
    }

    /// The value of a member of the file; `nil` for one of another form. A text alone is a list of one item.
    func value(of member: JSONValue) -> JSONValue? {
        switch (form, member) {
        case (.whole, .whole), (.number, .whole), (.number, .number), (.flag, .flag), (.text, .text): member
        case (.list, .text): .list([member])
        case (.list, .list(let items)): items.allSatisfy { if case .text = $0 { true } else { false } } ? member : nil
        default: nil
        }
    }
}
