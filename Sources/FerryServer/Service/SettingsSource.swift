import Configuration
import FerryAPI
package import FerryCore
import Foundation
package import Logging
import ServiceLifecycle
import SystemPackage

/// Where settings come from: flags before environment before the file, which is read anew when it changes.
///
/// Names are those of the API's settings; in the environment `FERRY_MAX_CONCURRENT_DOWNLOADS`. Beside those:
/// `port`, `loopback`, `allowsPrivate`, `onComplete`, `allowedDirectories`.
package struct SettingsSource: Service {
    private let reader: ConfigReader
    private let file: ReloadingFileProvider<SettingsSnapshot>
    private let path: String
    /// What was in the file at the start; `nil` without one.
    private let text: Data?
    private let pollInterval: Duration
    /// Where programs are.
    private let searchPath: String
    /// Stands between the words of a flag.
    static let separator: Character = "\u{1F}"
    private let base: DaemonSettings
    private let changed: @Sendable (DaemonSettings) async -> Void
    private let logger: Logger

    /// Reads the file. Throws `invalidRequest` when that is no JSON object.
    ///
    /// - Parameters:
    ///   - flags: What the command line gave; nothing for what it left open.
    ///   - changed: Hears of the settings whenever the file has changed.
    package init(
        file path: String, environment: [String: String], flags: [String: String], defaults: DaemonSettings,
        pollInterval: Duration = .seconds(2), logger: Logger,
        changed: @escaping @Sendable (DaemonSettings) async -> Void
    ) async throws(DownloadError) {
        text = FileManager.default.contents(atPath: path)
        let verdict = text.map { SettingsVerdict.of($0) } ?? .usable
        if verdict == .noObject { throw Self.noObject(path) }
        do {
            file = try await ReloadingFileProvider<SettingsSnapshot>(
                filePath: FilePath(path), allowMissing: true, pollInterval: pollInterval, logger: logger)
        } catch {
            // Of a text that was read, the reader says in words what it cannot use.
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unreadableSettings, path), suggestion: ErrorPhrase(.writeObject),
                underlying: text == nil ? nil : "\(error)", recovery: .needsUser)
        }
        let given = Dictionary(
            flags.map { ("FERRY_" + Self.environmentName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        reader = ConfigReader(providers: [
            EnvironmentVariablesProvider(environmentVariables: given, arraySeparator: Self.separator)
                .prefixKeys(with: "ferry"),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "ferry"),
            file,
        ])
        base = defaults
        self.path = path
        self.pollInterval = pollInterval
        searchPath = environment["PATH"] ?? "/usr/bin:/bin"
        self.changed = changed
        self.logger = logger
        warn(verdict)
    }

    private static func noObject(_ path: String) -> DownloadError {
        DownloadError(
            .invalidRequest, ErrorPhrase(.noJSONObject, path), suggestion: ErrorPhrase(.writeObject),
            recovery: .needsUser)
    }

    /// `maxConcurrentDownloads` as `MAX_CONCURRENT_DOWNLOADS`.
    private static func environmentName(_ name: String) -> String {
        name.reduce(into: "") { text, character in
            if character.isUppercase { text += "_" }
            text += character.uppercased()
        }
    }

    /// The settings that count now. Throws `invalidRequest` with the name of the one that cannot be meant.
    package func settings() throws(DownloadError) -> DaemonSettings {
        try settings(in: reader.snapshot())
    }

    /// Follows the file until the daemon stops.
    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await file.run() }
                group.addTask { try await follow() }
                group.addTask { await inspect() }
                try await group.waitForAll()
            }
        }
    }

    /// Looks at the text of the file whenever it has changed: what cannot be read at all, the reader passes over.
    private func inspect() async {
        var last = text
        var said = text.map { SettingsVerdict.of($0) }
        while !Task.isCancelled {
            do { try await Task.sleep(for: pollInterval) } catch { return }
            let text = FileManager.default.contents(atPath: path)
            guard text != last else { continue }
            last = text
            let verdict = text.map { SettingsVerdict.of($0) }
            // What the API writes leaves the other members as they were.
            if let verdict, verdict != said { warn(verdict) }
            said = verdict
        }
    }

    private func warn(_ verdict: SettingsVerdict) {
        switch verdict {
        case .usable: break
        case .noObject:
            logger.warning(
                "the settings were left as they are", metadata: ["error": "\(Self.noObject(path).message)"])
        case .unknown(let names):
            logger.warning(
                "the settings have members that are not known",
                metadata: ["file": "\(path)", "members": "\(names.joined(separator: ", "))"])
        }
    }

    private func follow() async throws {
        try await reader.watchSnapshot { snapshots in
            var last = try? settings()
            for await snapshot in snapshots {
                do throws(DownloadError) {
                    let new = try settings(in: snapshot)
                    guard new != last else { continue }
                    last = new
                    await changed(new)
                } catch {
                    // One that cannot be meant changes nothing.
                    logger.warning("the settings were left as they are", metadata: ["error": "\(error.message)"])
                }
            }
        }
    }

    private func settings(in reader: ConfigSnapshotReader) throws(DownloadError) -> DaemonSettings {
        let reading = SettingsReading(reader: reader)
        var settings = base
        do {
            if let port = try reading.int("port") {
                settings.port = try DaemonSettings.checked(port, 0...65_535, "port")
            }
            if let flag = try reading.bool("loopback") { settings.servesLoopback = flag }
            if let flag = try reading.bool("allowsPrivate") { settings.allowsPrivate = flag }
            if let command = try reading.texts("onComplete") {
                settings.onComplete = try CompletionCommand.resolve(command, searchPath: searchPath)
            }
            if let directories = try reading.texts("allowedDirectories") {
                settings.allowedDirectories = directories.filter { $0.utf8.hasPrefix("/") }
            }
            var change = SettingsChange()
            if let count = try reading.int("maxConcurrentDownloads") { change.maxConcurrentDownloads = .set(count) }
            if let rate = try reading.int("rateLimit") { change.rateLimit = .set(ByteCount(rate)) }
            if let count = try reading.int("connectionsPerHost") { change.connectionsPerHost = .set(count) }
            if let flag = try reading.bool("allowsMetered") { change.allowsMetered = .set(flag) }
            if let flag = try reading.bool("allowsConstrained") { change.allowsConstrained = .set(flag) }
            if let word = try reading.text("networkAssumption") { change.networkAssumption = .set(word) }
            if let seconds = try reading.number("retriesFailedAfter") { change.retriesFailedAfter = .set(seconds) }
            change.directory = try reading.text("directory")
            try settings.apply(change)
        } catch let error as DownloadError {
            throw error
        } catch {
            let problem = error as? Problem
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableSetting, problem?.detail ?? problem?.title ?? "\(error)"),
                recovery: .needsUser)
        }
        return settings
    }
}
