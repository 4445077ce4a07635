import FerryAPI
public import FerryCore

/// A setting of a door: its name, the format and range of its values, and its default.
///
/// A door declares its settings together with its code, and its kind (``DoorKind``) lists them. Their values are taken from the
/// same sources as the daemon's settings, in the same order: options of `ferry serve`, the environment, the settings file, the
/// default. They are read only at the start.
///
/// ```
/// extension DoorSetting {
///     public static let echoPort = DoorSetting.port("echoPort")
/// }
/// ```
public struct DoorSetting: Sendable {
    /// The key in the settings file, from which the environment variable is derived: `FERRY_ECHO_PORT` for `echoPort`.
    public let name: String
    let form: SettingForm
    /// The default value; null for none.
    let standard: JSONValue
    /// Whether the value is a directory that the door writes to.
    let isDirectory: Bool
    /// Returns why a value in the correct format cannot be used, beginning with the name of the setting; `nil` if the value can
    /// be used.
    let refusal: @Sendable (JSONValue) -> String?

    private init(
        _ name: String, _ form: SettingForm, default standard: JSONValue, isDirectory: Bool = false,
        refusal: @escaping @Sendable (JSONValue) -> String? = { _ in nil }
    ) {
        (self.name, self.form, self.standard) = (name, form, standard)
        (self.isDirectory, self.refusal) = (isDirectory, refusal)
    }

    /// A port from 0 to 65535; 0 for any free port.
    ///
    /// - Parameter standard: The default port; `nil` for none.
    public static func port(_ name: String, default standard: Int? = nil) -> DoorSetting {
        DoorSetting(name, .whole, default: standard.map(JSONValue.whole) ?? .null) { value in
            if case .whole(0...65_535) = value { nil } else { "\(name) must be from 0 to 65535." }
        }
    }

    /// A number of bytes from 0 to 2^62 - 1.
    public static func size(_ name: String, default standard: ByteCount) -> DoorSetting {
        DoorSetting(name, .whole, default: .whole(Int(standard))) { value in
            if case .whole(let bytes) = value, ByteCount(bytes).isSize { return nil }
            return "\(name) must be from 0 to 2^62 - 1."
        }
    }

    /// A number of seconds from 0 to 10^12.
    public static func seconds(_ name: String, default standard: Double) -> DoorSetting {
        DoorSetting(name, .number, default: .number(standard)) { value in
            value.number.flatMap(APISeconds.duration) == nil ? "\(name) must be a number of seconds, 0 or more." : nil
        }
    }

    /// True or false; false by default.
    public static func flag(_ name: String) -> DoorSetting { DoorSetting(name, .flag, default: .flag(false)) }

    /// The absolute path of a directory that the door may write to, even if the daemon is confined; none by default.
    public static func directory(_ name: String) -> DoorSetting {
        DoorSetting(name, .text, default: .null, isDirectory: true) { value in
            value.string?.utf8.hasPrefix("/") == true ? nil : "\(name) must be absolute."
        }
    }

    /// A text; none by default.
    ///
    /// - Parameter refusal: Returns a sentence that names the setting and describes what is wrong with a text; `nil` if the
    ///   text can be used.
    public static func text(_ name: String, refusal: @escaping @Sendable (String) -> String?) -> DoorSetting {
        DoorSetting(name, .text, default: .null) { $0.string.flatMap(refusal) }
    }

    /// A list of texts; empty by default. In an environment variable, commas separate the texts; in the settings file, a single
    /// text is a list of one item.
    ///
    /// - Parameter refusal: Returns a sentence that names the setting and describes what is wrong with the texts; `nil` if the
    ///   texts can be used. By default, all texts can be used.
    public static func texts(
        _ name: String, refusal: @escaping @Sendable ([String]) -> String? = { _ in nil }
    ) -> DoorSetting {
        DoorSetting(name, .list, default: .list([])) { refusal($0.texts) }
    }
}

/// The values of the settings of all doors at the daemon's start.
public struct DoorSettings: Sendable, Hashable {
    private let values: [String: JSONValue]
    /// The directories that doors may write to.
    let directories: [String]

    /// Reads the values of these settings, or their defaults.
    ///
    /// Throws a problem that names a setting whose value has the wrong format or is out of range.
    init(_ settings: [DoorSetting], _ given: [String: JSONValue]) throws(Problem) {
        var values: [String: JSONValue] = [:]
        for setting in settings {
            guard let value = given[setting.name], value != .null else {
                values[setting.name] = setting.standard
                continue
            }
            guard let value = setting.form.value(of: value) else {
                throw Problem(.badRequest, "\(setting.name) needs \(setting.form.demand)")
            }
            if let refusal = setting.refusal(value) { throw Problem(.badRequest, refusal) }
            values[setting.name] = value
        }
        self.values = values
        directories = settings.filter(\.isDirectory).compactMap { values[$0.name]?.string }
    }

    /// Returns the value of a port or a size; `nil` for none. Here and in the following methods, the setting must be listed by
    /// the door's kind.
    public func whole(_ setting: DoorSetting) -> Int? {
        guard case .whole(let number)? = values[setting.name] else { return nil }
        return number
    }

    /// Returns the value of a number of seconds; `nil` for none.
    public func seconds(_ setting: DoorSetting) -> Duration? {
        values[setting.name]?.number.flatMap(APISeconds.duration)
    }

    /// Returns whether the value of a flag is true.
    public func flag(_ setting: DoorSetting) -> Bool { values[setting.name] == .flag(true) }

    /// Returns the value of a text or a directory; `nil` for none.
    public func text(_ setting: DoorSetting) -> String? { values[setting.name]?.string }

    /// Returns the value of a list of texts; empty for none.
    public func texts(_ setting: DoorSetting) -> [String] { values[setting.name]?.texts ?? [] }
}

extension JSONValue {
    /// The value of an integer or another number; `nil` for all other values.
    fileprivate var number: Double? {
        switch self {
        case .whole(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// The texts in a list; empty for all other values.
    fileprivate var texts: [String] { items?.compactMap(\.string) ?? [] }
}
