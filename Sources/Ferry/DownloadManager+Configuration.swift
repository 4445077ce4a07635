public import CoreMetrics
public import FerryCore
public import Logging

extension DownloadManager {
    /// Limits, connection settings and list storage of a manager. Paths are absolute, or relative to the working
    /// directory.
    public struct Configuration: Sendable {
        /// The storage of the list of downloads.
        enum Storage: Sendable {
            /// In memory, for the lifetime of the manager.
            case memory
            /// In a catalogue on disk.
            case catalogue(identifier: String, directory: String, stateDirectory: String?)
            /// In another process, which runs the downloads.
            case elsewhere(BackendProvider)

            var isKept: Bool { if case .memory = self { false } else { true } }
            var identifier: String? {
                switch self {
                case .memory: nil
                case .catalogue(let identifier, _, _): identifier
                case .elsewhere(let provider): provider.identifier
                }
            }
        }

        /// Keeps nothing except the journals beside the part files; for one-shot programs.
        public static var ephemeral: Configuration { Configuration(storage: .memory) }

        /// Keeps the list in a catalogue and resumes running and queued downloads after a relaunch.
        ///
        /// - Parameters:
        ///   - identifier: The name of this list, as for a background URL session: letters, digits, `.`, `-` and `_`.
        ///     At most one manager at a time, over all processes, may have the list open.
        ///   - directory: The default directory for downloads. A download stays in the directory to which it was added,
        ///     also if another default is given later; if the directory itself was moved, its downloads follow.
        ///   - stateDirectory: The directory of the catalogue; by default
        ///     `$XDG_STATE_HOME/ferry/sessions/IDENTIFIER`, on Apple's systems inside Application Support.
        public static func `default`(
            identifier: String, directory: String, stateDirectory: String? = nil
        ) -> Configuration {
            var configuration = Configuration(
                storage: .catalogue(
                    identifier: identifier, directory: DownloadManager.absolute(directory),
                    stateDirectory: stateDirectory.map(DownloadManager.absolute)))
            configuration.waitsForUser = true
            return configuration
        }

        let storage: Storage
        /// How downloads go on while the app is suspended; `nil`, the default, if they rest.
        public internal(set) var backgroundTransfer: BackgroundTransfer?
        /// Maximum number of downloads that run at a time; others wait. Default 3, at least 1.
        public var maxConcurrentDownloads = 3
        /// Maximum bytes per second over all downloads; `nil` for no limit.
        public var rateLimit: ByteCount?
        /// Free disk space to preserve, in bytes. Default `nil`: 1 % of the file system, at most 256 MB.
        public var minFreeBytes: ByteCount?
        /// Whether a refused connection ends a download of which nothing has come, whatever number of attempts it has.
        package var failsWhenRefused = false
        /// A connection that receives less than 1 KB in this interval is closed; also the time limit for a response
        /// head. Default 60 s.
        public var stallTimeout: Duration = DownloadRequest.standardStallTimeout
        /// Maximum consecutive attempts without progress; `nil` for no limit. Default 10.
        public var maxAttempts: Int? = DownloadRequest.standardMaxAttempts
        /// The delay after which failed downloads are retried, unless the failure is permanent; `nil`, the default,
        /// for never.
        public var retriesFailedAfter: Duration?
        /// Whether metered networks may be used where a request does not specify it. Default true.
        public var allowsMeteredNetwork = true
        /// Whether constrained networks (Low Data Mode) may be used where a request does not specify it. Default
        /// true.
        public var allowsConstrainedNetwork = true
        /// Follows the machine's network: waits while it is offline, resumes when it returns. Default true.
        public var watchesNetwork = true
        /// Overrides the detected metered state of the network. Default `nil`: detected.
        public var networkIsMetered: Bool?
        /// Overrides the detected constrained state of the network. Default `nil`: detected.
        public var networkIsConstrained: Bool?
        /// Stores passwords and secret headers of unfinished downloads in files of mode 0600. Default true. If false,
        /// a download that needs them waits for credentials after a relaunch.
        public var storesCredentials = true
        /// Where those secrets are stored instead of in files, such as `KeychainSecrets` on Apple's systems. Read when the
        /// list is opened. Default `nil`: in files.
        public var secretStorage: (any SecretStorage)?
        /// Makes a download whose link has expired, or whose server requests credentials, wait for the user instead
        /// of failing; a download whose disk is full waits until there is space and then resumes. Default: true if the
        /// list is kept.
        public var waitsForUser = false
        /// Connection settings. A change applies from the next connection on.
        public var transfer = TransferSettings()
        /// Receives faults that stop no download, such as a catalogue that cannot be written. Default `nil`: on Apple's
        /// systems they are in the unified log (subsystem `ferry`), as are the events of downloads; elsewhere nowhere.
        public var logger: Logger?
        /// What services and clusters need, and apps do not.
        public var server = ServerOptions()
        /// What makes the engine, in place of connections to servers. Default `nil`.
        package var engine: EngineProvider?
        /// Whether downloads wait in the list while their server is down or has asked to wait. If not, they fail at once, with
        /// the time of the next attempt, and a server is given up after ``maxAttempts`` failures also where the list is kept:
        /// for a caller that has other downloads to start meanwhile. Default true.
        package var waitsForServers = true
        /// Whether the downloads of an earlier process wait until each is resumed. Default false.
        package var parksListed = false
        /// Other sessions whose downloads this manager hosts. Default: none.
        package var hosted = HostedSessions()
        /// Returns why this process may not write to a directory, independent of the file system's modes; `nil` if it
        /// may.
        package var refusal: (@Sendable (_ directory: String) -> DownloadError?)?

        init(storage: Storage) { self.storage = storage }

        /// Settings for downloads that another process runs.
        package init(_ provider: BackendProvider) { self.init(storage: .elsewhere(provider)) }

        /// Settings for programs that download for many users, or from few servers a lot.
        public struct ServerOptions: Sendable {
            /// What each host may be asked for that has no budget of its own, in addition to
            /// ``TransferSettings/connectionsPerHost``. Default: no further limit.
            public var hostBudget = HostBudget()
            /// What all hosts of a registrable domain together may be asked for. Default: no limit.
            public var domainBudget = HostBudget()
            /// Trusts files and part files of this user that the group of their directory can write to: resumes part
            /// files and accepts finished files as complete. Otherwise such files are in the way, since any group member
            /// may have changed them. Default false.
            public var sharesWithGroup = false
            /// Receives counters and times of what happens to the downloads, by the names in `docs/metrics.md`. Default
            /// `nil`: the metrics system of the program (`MetricsSystem.bootstrap`). Read when the manager is created.
            public var metrics: (any MetricsFactory)?

            public init() {}
        }

        /// The name of the list or of the session; `nil` for ``ephemeral``.
        public var identifier: String? { storage.identifier }

        var networkSettings: NetworkSettings {
            NetworkSettings(isMetered: networkIsMetered, isConstrained: networkIsConstrained)
        }
    }
}
