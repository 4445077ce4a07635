package import FerryAPI
package import FerryCore

/// The sources of the settings: flags before environment before file before defaults.
package struct SettingsSource: Sendable {
    let file: SettingsFile
    /// The values of flags and environment.
    private let given: [Setting: JSONValue]
    private let defaults: DaemonSettings
    private let searchPath: String

    /// Throws `invalidRequest` with the name of a setting whose variable is of another form.
    package init(
        file path: String, environment: [String: String], flags: [Setting: JSONValue], defaults: DaemonSettings
    ) throws(DownloadError) {
        file = SettingsFile(path: path)
        self.defaults = defaults
        searchPath = environment["PATH"] ?? "/usr/bin:/bin"
        var given = flags
        for setting in Setting.allCases where flags[setting] == nil {
            guard let text = environment[setting.variable] else { continue }
            guard let value = setting.value(of: text) else { throw Self.unusable(setting.rawValue) }
            given[setting] = value
        }
        self.given = given
    }

    /// The current settings. Throws `invalidRequest` for a file that is no JSON object, or with the name of the
    /// setting that cannot be used.
    package func settings() throws(DownloadError) -> DaemonSettings { try settings(with: try file.read()) }

    /// The settings for a file with these members; unknown members are ignored.
    func settings(with members: [String: JSONValue]) throws(DownloadError) -> DaemonSettings {
        var values = given
        for setting in Setting.allCases where given[setting] == nil { values[setting] = members[setting.rawValue] }
        var settings: DaemonSettings
        do throws(Problem) { settings = try defaults.merging(values) } catch {
            throw Self.unusable(error.detail ?? error.title)
        }
        settings.onComplete = try CompletionCommand.resolve(settings.onComplete, searchPath: searchPath)
        settings.allowedDirectories.removeAll { !$0.utf8.hasPrefix("/") }
        return settings
    }

    private static func unusable(_ reason: String) -> DownloadError {
        DownloadError(.invalidRequest, ErrorPhrase(.unusableSetting, reason), recovery: .needsUser)
    }
}
