public import FerryCore
public import Foundation
public import Logging

extension DownloadManager {
    /// What a manager is allowed, how it connects, and where it keeps its list.
    public struct Configuration: Sendable {
        /// Where the list of downloads is kept.
        enum Storage: Sendable, Hashable {
            /// Nowhere: for as long as the manager lives.
            case memory
            /// In a catalogue.
            case catalogue(identifier: String, directory: String, stateDirectory: String?)
            /// By the daemon.
            case daemon(DaemonAddress)

            var isKept: Bool { if case .memory = self { false } else { true } }
            var identifier: String? {
                switch self {
                case .memory: nil
                case .catalogue(let identifier, _, _): identifier
                case .daemon(let place): place.identifier
                }
            }
        }

        /// Keeps nothing but the journals beside the part files: for one-shot programs.
        public static var ephemeral: Configuration { Configuration(storage: .memory) }

        /// Keeps its list in a catalogue, and goes on after a relaunch with what ran or waited.
        ///
        /// - Parameters:
        ///   - identifier: The name of this list, like that of a background URL session: letters, digits, `.`, `-` and
        ///     `_`. One manager at a time may have it open, over all processes.
        ///   - directory: Where downloads go by default; paths inside it are kept relative to it, so that it may move.
        ///   - stateDirectory: Where the catalogue is; by default `$XDG_STATE_HOME/ferry/sessions/IDENTIFIER`, on Apple's
        ///     systems inside Application Support.
        public static func `default`(
            identifier: String, directory: URL, stateDirectory: URL? = nil
        ) -> Configuration {
            var configuration = Configuration(
                storage: .catalogue(
                    identifier: identifier, directory: DownloadManager.absolute(directory.path),
                    stateDirectory: stateDirectory.map { DownloadManager.absolute($0.path) }))
            configuration.waitsForUser = true
            return configuration
        }

        /// Hands its downloads to the daemon: they go on when this process ends, and the next launch with the same
        /// identifier finds them, and is told what ended meanwhile.
        ///
        /// The first use connects to the daemon, or starts it. Of the settings below those count that are a session's
        /// own (`maxConcurrentDownloads`, `rateLimit`, `allowsMeteredNetwork`, `allowsConstrainedNetwork`), under the
        /// daemon's, and only once they are changed; the others are the daemon's.
        ///
        /// - Parameters:
        ///   - identifier: The name of the session, as for ``default(identifier:directory:stateDirectory:)``; several
        ///     managers, in several processes, may share one.
        ///   - directory: Where downloads go by default; without one, where they went before, at first the user's
        ///     Downloads.
        ///   - binary: The program `ferry`, in case the daemon does not run; without one it is looked for in
        ///     `FERRY_BINARY`, beside the app's own program, and in `PATH`.
        ///   - launchCommand: A program and its arguments, run without a shell and with `FERRY_SESSION` set when
        ///     downloads have ended and no process of the session is there; an empty one for none, `nil` for what was
        ///     said before.
        @available(iOS, unavailable, message: "only the system's own session goes on when an app is suspended")
        @available(tvOS, unavailable, message: "only the system's own session goes on when an app is suspended")
        @available(watchOS, unavailable, message: "only the system's own session goes on when an app is suspended")
        @available(visionOS, unavailable, message: "only the system's own session goes on when an app is suspended")
        public static func background(
            identifier: String, directory: URL? = nil, binary: URL? = nil, launchCommand: [String]? = nil
        ) -> Configuration {
            let place = DaemonAddress(
                identifier: identifier, directory: directory.map { DownloadManager.absolute($0.path) },
                binary: binary.map { DownloadManager.absolute($0.path) }, launchCommand: launchCommand)
            var configuration = Configuration(storage: .daemon(place))
            configuration.waitsForUser = true
            return configuration
        }

        let storage: Storage
        /// Downloads that run at a time; the rest waits. Default 3, at least 1.
        public var maxConcurrentDownloads = 3
        /// Bytes per second over all downloads; `nil` for no limit.
        public var rateLimit: ByteCount?
        /// Free space that is left on the disk. Default 256 MB.
        public var minFreeBytes: ByteCount = 256_000_000
        /// Files and part files of this user that the group of their directory can write to are gone on with, and count as
        /// complete; otherwise they are in the way, since each member may have changed them. Default false.
        public var sharesWithGroup = false
        /// A connection that brings less than 1 KB in this time is cut; also the limit for a head. Default 60 s.
        public var stallTimeout: Duration = .seconds(60)
        /// Consecutive attempts without progress; `nil` for no end. Default 10.
        public var maxAttempts: Int? = 10
        /// Failed downloads that are not hopeless are tried again after this time; `nil`, the default, for never.
        public var retriesFailedAfter: Duration?
        /// Networks where bytes cost money may be used, where a request does not say otherwise. Default true.
        public var allowsMeteredNetwork = true
        /// Networks that the user asked to spare may be used, where a request does not say otherwise. Default true.
        public var allowsConstrainedNetwork = true
        /// Follow the machine's network: wait while there is none, go on when it returns. Default true.
        public var watchesNetwork = true
        /// What the user says about the network, before what is found out: bytes cost money, or do not. Default `nil`: it is
        /// found out.
        public var networkIsMetered: Bool?
        /// What the user says about the network: it is to be spared, or is not. Default `nil`: it is found out.
        public var networkIsConstrained: Bool?
        /// Keep passwords and secret headers of unfinished downloads in files of mode 0600. Default true; without it a
        /// download that needs them waits for credentials after a relaunch.
        public var storesCredentials = true
        /// A download whose link has expired, or whose server asks who is there, waits for the user instead of failing;
        /// one whose disk is full waits until there is room, and goes on by itself.
        /// Default: true where the list is kept.
        public var waitsForUser = false
        /// How connections are made. Fixed once the manager has made the first; `connectionsPerHost` can be changed.
        public var transfer = TransferSettings()
        /// Where faults that stop no download are written: a catalogue that cannot be kept. Default: nowhere.
        public var logger: Logger?
        /// Whose downloads it holds beside its own. Default: nobody's.
        package var hosted = HostedSessions()
        /// Why this process may not write to a directory, whatever the file system's modes say; `nil` where it may.
        package var refusal: (@Sendable (_ directory: String) -> DownloadError?)?

        init(storage: Storage) { self.storage = storage }

        var networkSettings: NetworkSettings {
            NetworkSettings(isMetered: networkIsMetered, isConstrained: networkIsConstrained)
        }
    }
}
