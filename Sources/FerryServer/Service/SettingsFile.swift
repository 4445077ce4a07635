import FerryAPI
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The settings file: one JSON object, written by the user, and by the daemon when a client changes settings.
struct SettingsFile: Sendable {
    let path: String
    /// The maximum size in bytes.
    private static let mostBytes = 1 << 20

    /// The members of the file; none if the file does not exist.
    ///
    /// Throws an error with this code for a file that cannot be read or is not a JSON object.
    func read(orThrow code: DownloadError.Code = .invalidRequest) throws(DownloadError) -> [String: JSONValue] {
        func failure(_ phrase: ErrorPhrase.Key, _ underlying: String? = nil) -> DownloadError {
            DownloadError(
                code, ErrorPhrase(phrase, path), suggestion: ErrorPhrase(.writeObject), underlying: underlying,
                recovery: .needsUser)
        }
        let text: Data
        do { text = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            if (error as? CocoaError)?.code == .fileReadNoSuchFile { return [:] }
            throw failure(.unreadableSettings, PrivateFile.reason(of: error))
        }
        guard text.count <= Self.mostBytes else { throw failure(.unreadableSettings, "\(text.count) bytes") }
        guard let members = try? JSONCoding.decode([String: JSONValue].self, from: text) else {
            throw failure(.noJSONObject)
        }
        return members
    }

    /// Writes the members of a change and keeps all others; null removes a member.
    func merge(_ change: SettingsChange) throws(DownloadError) {
        var members = try read(orThrow: .disk)
        do {
            for (setting, value) in try [Setting: JSONValue](encoding: change) {
                members[setting.rawValue] = value == .null ? nil : value
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let text = String(decoding: try encoder.encode(members), as: UTF8.self)
            try FileManager.default.createDirectory(atPath: Paths.parent(of: path), withIntermediateDirectories: true)
            try PrivateFile(path, most: Self.mostBytes).write(text + "\n")
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.disk, ErrorPhrase(.unwrittenSettings, path), underlying: PrivateFile.reason(of: error))
        }
    }
}

/// The sources of the settings of the daemon and of its doors, in order of precedence: flags, environment, file, defaults.
package struct SettingsSource: Sendable {
    let file: SettingsFile
    /// The values of flags and environment, by the name of the setting.
    private let given: [String: JSONValue]
    private let defaults: DaemonSettings
    private let doors: [DoorSetting]
    private let searchPath: String

    /// - Parameter doors: The settings of all doors that the program has.
    ///
    /// Throws `invalidRequest` with the name of a variable whose value does not have the setting's form, or of a flag without a
    /// setting.
    package init(
        file path: String, environment: [String: String], flags: SettingValues, defaults: DaemonSettings,
        doors: [DoorSetting] = []
    ) throws(DownloadError) {
        file = SettingsFile(path: path)
        self.defaults = defaults
        self.doors = doors
        searchPath = environment["PATH"] ?? "/usr/bin:/bin"
        var given: [String: JSONValue] = [:]
        for (name, form) in Setting.allCases.map({ ($0.rawValue, $0.form) }) + doors.map({ ($0.name, $0.form) }) {
            let variable = SettingForm.variable(name)
            if let flag = flags.values[name] {
                given[name] = flag
            } else if let text = environment[variable] {
                guard let value = form.value(of: text) else { throw Self.unusable("\(variable) needs \(form.demand)") }
                given[name] = value
            }
        }
        if let missing = flags.values.keys.filter({ given[$0] == nil }).min() {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noSuchDoor, missing), recovery: .needsUser)
        }
        self.given = given
    }

    /// The current settings. Throws `invalidRequest` for a file that is not a JSON object, or with the name of an unusable
    /// setting of the daemon or of a door.
    package func settings() throws(DownloadError) -> DaemonSettings {
        let members = try file.read()
        _ = try doorSettings(with: members)
        return try settings(with: members)
    }

    /// The members of the file that are not settings, sorted; none for a file that cannot be read.
    package var unknownMembers: [String] { unknown((try? file.read()) ?? [:]) }

    /// The names of the members that are not settings, sorted.
    func unknown(_ members: [String: JSONValue]) -> [String] {
        let ofDoors = Set(doors.map(\.name))
        return members.keys.filter { Setting(rawValue: $0) == nil && !ofDoors.contains($0) }.sorted()
    }

    /// The settings for a file with these members; unknown members are ignored.
    func settings(with members: [String: JSONValue]) throws(DownloadError) -> DaemonSettings {
        var values: [Setting: JSONValue] = [:]
        for setting in Setting.allCases { values[setting] = given[setting.rawValue] ?? members[setting.rawValue] }
        var settings: DaemonSettings
        do throws(Problem) { settings = try defaults.merging(values) } catch {
            throw unusable(error.detail ?? error.title, of: members)
        }
        settings.onComplete = try CompletionCommand.resolve(
            settings.onComplete, of: .onComplete, searchPath: searchPath)
        settings.onNeedsUser = try CompletionCommand.resolve(
            settings.onNeedsUser, of: .onNeedsUser, searchPath: searchPath)
        settings.allowedDirectories.removeAll { !$0.utf8.hasPrefix("/") }
        return settings
    }

    /// The settings of the doors for a file with these members.
    func doorSettings(with members: [String: JSONValue]) throws(DownloadError) -> DoorSettings {
        do throws(Problem) { return try DoorSettings(doors, members.merging(given) { $1 }) } catch {
            throw unusable(error.detail ?? error.title, of: members)
        }
    }

    /// Returns the error, with the path of the file if a member of the file is the reason.
    private func unusable(_ reason: String, of members: [String: JSONValue]) -> DownloadError {
        let isOfFile = members.keys.contains { given[$0] == nil && reason.utf8.hasPrefix($0 + " ") }
        let error = Self.unusable(reason)
        return isOfFile ? error.suggesting(ErrorPhrase(.correctSetting, file.path)) : error
    }

    private static func unusable(_ reason: String) -> DownloadError {
        DownloadError(.invalidRequest, ErrorPhrase(.unusableSetting, reason), recovery: .needsUser)
    }
}
