package import FerryCore

/// The format of a setting's values.
enum SettingForm: Sendable, Hashable {
    case whole, number, flag, text, list

    /// A description of the accepted values, for messages.
    var demand: String {
        switch self {
        case .whole: "a whole number"
        case .number: "a number"
        case .flag: "true or false"
        case .text: "a text"
        case .list: "a list of texts"
        }
    }

    /// Parses the value of an environment variable. Returns `nil` if the text has the wrong format. Commas separate the items
    /// of a list. An empty text restores the default of a number or a Boolean.
    func value(of text: String) -> JSONValue? {
        switch self {
        case .text: return .text(text)
        case .list:
            let items = text.split(at: ",", omittingEmptySubsequences: false)
            return .list(items.map { .text($0.trimmedText) })
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

    /// Parses the value of a member of the settings file. Returns `nil` if it has the wrong format. A single text is a list of
    /// one item.
    func value(of member: JSONValue) -> JSONValue? {
        switch (self, member) {
        case (.whole, .whole), (.number, .whole), (.number, .number), (.flag, .flag), (.text, .text): member
        case (.list, .text): .list([member])
        case (.list, .list(let items)): items.allSatisfy { if case .text = $0 { true } else { false } } ? member : nil
        default: nil
        }
    }

    /// Returns the environment variable of a setting: `FERRY_MAX_CONCURRENT_DOWNLOADS` for `maxConcurrentDownloads`.
    static func variable(_ name: String) -> String {
        name.reduce(into: "FERRY_") { name, letter in
            if letter.isUppercase { name += "_" }
            name += letter.uppercased()
        }
    }
}

/// Values of settings of the daemon and of doors, from the options of a command line.
public struct SettingValues: Sendable, Hashable {
    /// The values, by the name of the setting.
    private(set) var values: [String: JSONValue] = [:]

    public init() {}

    /// Creates the values from settings of the daemon.
    package init(_ values: [Setting: JSONValue]) { for (setting, value) in values { self[setting] = value } }

    package subscript(setting: Setting) -> JSONValue? {
        get { values[setting.rawValue] }
        set { values[setting.rawValue] = newValue }
    }

    package subscript(setting: DoorSetting) -> JSONValue? {
        get { values[setting.name] }
        set { values[setting.name] = newValue }
    }

    /// Sets a port or a size. Here and in the following methods, `nil` changes nothing.
    public mutating func set(_ setting: DoorSetting, to number: Int?) {
        if let number { self[setting] = .whole(number) }
    }

    /// Sets a number of seconds.
    public mutating func set(_ setting: DoorSetting, to time: Duration?) {
        if let time { self[setting] = .number(time / .seconds(1)) }
    }

    /// Sets a text or a directory.
    public mutating func set(_ setting: DoorSetting, to text: String?) {
        if let text { self[setting] = .text(text) }
    }

    /// Sets a list of texts.
    public mutating func set(_ setting: DoorSetting, to texts: [String]?) {
        if let texts { self[setting] = .list(texts.map(JSONValue.text)) }
    }

    /// Sets true or false.
    public mutating func set(_ setting: DoorSetting, to flag: Bool?) {
        if let flag { self[setting] = .flag(flag) }
    }
}
