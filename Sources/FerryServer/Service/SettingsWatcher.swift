import FerryAPI
import FerryCore
import Logging
import ServiceLifecycle

/// Reads the settings file again after each change; an unusable file changes nothing, and the log has the reason.
struct SettingsWatcher: Service {
    typealias Members = [String: JSONValue]

    let source: SettingsSource
    /// The members of the file at the start.
    let members: Members
    let controller: SettingsController
    let confinement: Confinement?
    let pollInterval: Duration
    let logger: Logger

    /// Follows the file until the daemon stops.
    func run() async {
        await cancelWhenGracefulShutdown {
            var last = Result<Members, DownloadError>.success(members)
            while (try? await Task.sleep(for: pollInterval)) != nil {
                let found = Result { () throws(DownloadError) in try source.file.read() }
                guard found != last else { continue }
                // Writes of the API leave the other members unchanged.
                if case .success(let new) = found, (try? last.get()).map(Self.unknown) != Self.unknown(new) {
                    Self.warn(new, in: source.file, logger)
                }
                last = found
                await follow(found)
            }
        }
    }

    private func follow(_ found: Result<Members, DownloadError>) async {
        do throws(DownloadError) {
            let new = try source.settings(with: try found.get())
            if let refusal = confinement?.refusal(of: new.directory) { throw refusal }
            try await controller.adopt(new)
        } catch {
            logger.warning("the settings were left as they are", metadata: ["error": "\(error.message)"])
        }
    }

    /// The unknown members, in alphabetical order.
    static func unknown(_ members: Members) -> [String] {
        members.keys.filter { Setting(rawValue: $0) == nil }.sorted()
    }

    /// Logs the unknown members.
    static func warn(_ members: Members, in file: SettingsFile, _ logger: Logger) {
        let names = unknown(members)
        guard !names.isEmpty else { return }
        logger.warning(
            "the settings have members that are not known",
            metadata: ["file": "\(file.path)", "members": "\(names.joined(separator: ", "))"])
    }
}
