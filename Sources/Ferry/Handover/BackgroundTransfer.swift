import FerryCore

/// How the downloads of a suspended app go on: the system fetches what is missing of them, and every byte that it brings
/// is checked before it counts.
///
/// ```swift
/// let manager = DownloadManager(
///     .default(identifier: "com.example.app", directory: downloads).continuingInBackground())
/// ```
///
/// On Apple's systems this is a background session of `URLSession` with the manager's identifier. Elsewhere there is no such
/// service, and a suspended manager only rests.
public struct BackgroundTransfer: Sendable, Hashable {
    /// Lets the system choose the time of transfers, for instance on Wi-Fi and while charging. Default false.
    public var isDiscretionary = false
    /// Lets the system start the app when transfers have ended (``DownloadManager/handleBackgroundEvents(_:completionHandler:)``).
    /// Default true.
    public var sendsLaunchEvents = true
    /// The app group whose container has the session's files, needed in app extensions. Default `nil`.
    public var sharedContainerIdentifier: String?
    /// Fetches a file of which nothing is present yet as a whole, if the server proves its bytes by no strong validator.
    /// Default false: such a download waits for the app, unless its own `trust.resumesUnproven` is set.
    public var fetchesUnproven = false
    /// The settings that the system cannot honour, and that are ignored while the app is suspended; downloads with other
    /// such settings wait for the app. Default: none.
    public var ignoredSettings: Set<Setting> = []

    /// How long a wake takes at most: the system gives about half a minute.
    var wakeLimit: Duration = .seconds(20)
    /// The sizes and numbers of leases.
    var limits = HandoverLimits()

    public init(isDiscretionary: Bool = false, sendsLaunchEvents: Bool = true) {
        self.isDiscretionary = isDiscretionary
        self.sendsLaunchEvents = sendsLaunchEvents
    }

    /// A setting that the system cannot honour, and whose loss harms neither the file nor a secret.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        /// Rate limits of the download, its session or the manager.
        case rateLimit
        /// Budgets of hosts and domains.
        case hostBudget
        /// A proxy of Ferry's settings: the system uses its own.
        case proxy
        /// Certificates in place of the system's.
        case certificates
        /// Certificates are not verified: the system verifies them.
        case insecure
        /// One IP version.
        case addressFamily
        /// Several sources: only the first one is used.
        case mirrors
        /// An `http` URL: the system refuses it unless the app has an exception (App Transport Security).
        case unencrypted
    }

    /// The obstacles in spite of which downloads are handed over.
    var accepts: Set<HandoverObstacle> { Set(ignoredSettings.compactMap { HandoverObstacle(rawValue: $0.rawValue) }) }
}

extension DownloadManager.Configuration {
    /// The same configuration, whose downloads go on while the app is suspended; see ``BackgroundTransfer``. Only for a
    /// list that is kept: without one, and with a daemon, it has no effect.
    public func continuingInBackground(
        _ transfer: BackgroundTransfer = BackgroundTransfer()
    ) -> DownloadManager.Configuration {
        var configuration = self
        configuration.backgroundTransfer = transfer
        return configuration
    }
}
