public import CoreMetrics
public import FerryCore
public import Logging

extension DownloadManager {
    /// Limits, connection settings and list storage of a manager. Paths are absolute, or relative to the working
    /// directory. A number that is out of bounds is replaced by the nearest permitted one.
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

        /// Stores nothing except the journals beside the part files; for one-shot programs.
        public static var ephemeral: Configuration { Configuration(storage: .memory) }

        /// Keeps the list in a catalogue and resumes running and queued downloads after a relaunch.
        ///
        /// - Parameters:
        ///   - identifier: The name of this list, as for a background URL session: letters, digits, `.`, `-` and `_`.
        ///     At most one manager at a time, across all processes, may have the list open.
        ///   - directory: The default directory for downloads. A download stays in the directory to which it was added, even if
        ///     a different default is passed later. If the directory itself was moved, the paths of its downloads are updated.
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
        /// How downloads continue while the app is suspended; `nil`, the default, if they do not.
        public internal(set) var backgroundTransfer: BackgroundTransfer?
        /// Maximum number of downloads that run at a time; others wait. Default 3, at least 1.
        public var maxConcurrentDownloads = 3
        /// Maximum total speed of all downloads, in bytes per second; `nil`, or a number below 1, for no limit.
        public var rateLimit: ByteCount?
        /// Free disk space to preserve, in bytes. Default `nil`: 1 % of the file system, at most 256 MB.
        public var minFreeBytes: ByteCount?
        /// Whether a refused connection ends a download that has received no bytes, regardless of its number of attempts.
        package var failsWhenRefused = false
        /// The interval in which a connection must receive at least 1 KB, or else it is closed; also the time limit for a
        /// response head. Default 60 s, at least 1 ms.
        public var stallTimeout: Duration = DownloadRequest.standardStallTimeout
        /// Maximum consecutive retries without progress; `nil` for no limit. Default 10. An ``ephemeral`` manager makes at most 3
        /// while the server refuses every connection and nothing has been received from it.
        public var maxRetries: Int? = DownloadRequest.standardMaxRetries
        /// The delay after which failed downloads are retried, unless the failure is permanent. A change also applies to downloads
        /// that have already failed: the delay counts from the time of the failure, so such a download may be retried at once.
        /// At least 1 s. Default `nil`: never.
        public var retriesFailedAfter: Duration?
        /// Whether a download may use metered networks, unless its request sets a rule. Default true.
        public var allowsMeteredNetwork = true
        /// Whether a download may use constrained networks (Low Data Mode), unless its request sets a rule. Default true.
        public var allowsConstrainedNetwork = true
        /// Whether the manager observes the network: downloads wait while the machine is offline, and resume when it is online
        /// again. Default true.
        public var watchesNetwork = true
        /// Overrides the detected metered state of the network. Default `nil`: detected.
        public var networkIsMetered: Bool?
        /// Overrides the detected constrained state of the network. Default `nil`: detected.
        public var networkIsConstrained: Bool?
        /// Whether passwords and secret headers of unfinished downloads are stored, in files of mode 0600. Default true. If
        /// false, a download that needs them waits for credentials after a relaunch.
        public var storesCredentials = true
        /// The storage for those secrets, such as `KeychainSecrets` on Apple's systems. Read when the list is opened. Default
        /// `nil`: Ferry's own files.
        public var secretStorage: (any SecretStorage)?
        /// Whether a download whose link has expired, or whose server requests credentials, waits for the user instead of
        /// failing. If true, a download whose disk is full waits for space and then resumes. Default: true if the list is kept.
        public var waitsForUser = false
        /// Connection settings. A change applies from the next connection on.
        public var transfer = TransferSettings()
        /// Receives faults that do not stop a download, such as a catalogue that cannot be written. Default `nil`: on Apple's
        /// systems they go to the unified log (subsystem `ferry`), as do the events of downloads; on other systems they are not
        /// logged.
        public var logger: Logger?
        /// Settings for services and clusters, which apps do not need.
        public var server = ServerOptions()
        /// Makes the engine. Default `nil`: the engine that connects to servers.
        package var engine: EngineProvider?
        /// Makes the monitor of the network. Default `nil`: the one of the operating system.
        package var monitor: (@Sendable (NetworkSettings) -> any NetworkMonitor)?
        /// Whether downloads wait in the list while their server is down or has requested a delay. If false, they fail at once with
        /// the time of the next attempt, and no further attempt is made on a server after ``maxRetries`` failures, even if the
        /// list is stored. False suits a caller that can start other downloads meanwhile. Default true.
        package var waitsForServers = true
        /// Whether each download of an earlier process waits until it is resumed. Default false.
        package var parksListed = false
        /// Other sessions whose downloads this manager hosts. Default: none.
        package var hosted = HostedSessions()
        /// Returns why this process may not write to a directory, apart from file permissions; `nil` if it may.
        package var refusal: (@Sendable (_ directory: String) -> DownloadError?)?

        init(storage: Storage) { self.storage = storage }

        /// The configuration with each number that is out of bounds replaced by the nearest permitted one.
        var bounded: Configuration {
            let longest = Duration.seconds(100_000_000)
            var bounded = self
            bounded.maxConcurrentDownloads = max(1, maxConcurrentDownloads)
            bounded.minFreeBytes = minFreeBytes.map { max(0, $0) }
            bounded.stallTimeout = min(max(.milliseconds(1), stallTimeout), longest)
            bounded.maxRetries = maxRetries.map { max(0, $0) }
            bounded.retriesFailedAfter = retriesFailedAfter.map { min(max(.seconds(1), $0), longest) }
            bounded.transfer.connectTimeout = min(max(.milliseconds(1), transfer.connectTimeout), longest)
            bounded.transfer.connectionsPerHost = max(1, transfer.connectionsPerHost)
            return bounded
        }

        /// Settings for downloads that run in another process.
        package init(_ provider: BackendProvider) { self.init(storage: .elsewhere(provider)) }

        /// Settings for programs that download for many users, or that download a lot from a few servers.
        public struct ServerOptions: Sendable {
            /// The budget of each host that has none of its own, in addition to ``TransferSettings/connectionsPerHost``.
            /// Default: no further limit.
            public var hostBudget = HostBudget()
            /// The budget of all hosts of a registrable domain together. Default: no limit.
            public var domainBudget = HostBudget()
            /// Whether this user's files and part files are trusted although they are writable by the group of their directory:
            /// part files are resumed, and finished files are accepted as complete. If false, such files count as conflicts,
            /// because any group member may have changed them. Default false.
            public var sharesWithGroup = false
            /// Receives the metrics of the downloads, under the names in `docs/metrics.md`. Default `nil`: the metrics system
            /// of the program (`MetricsSystem.bootstrap`). Read when the manager is created.
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
