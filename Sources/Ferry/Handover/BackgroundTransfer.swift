import FerryCore

/// How the downloads of a suspended app continue: the system fetches their missing bytes, and everything that it delivers is
/// checked before it is used.
///
/// ```swift
/// let manager = DownloadManager(
///     .default(identifier: "com.example.app", directory: downloads).continuingInBackground())
/// ```
///
/// On Apple's systems this is a background session of `URLSession` with the manager's identifier. On other systems there is no
/// such service, and the downloads of a suspended manager stop.
public struct BackgroundTransfer: Sendable, Hashable {
    /// Whether the system chooses the time of transfers, for instance on Wi-Fi and while charging. Default false.
    public var isDiscretionary = false
    /// Whether the system launches the app when transfers have ended
    /// (``DownloadManager/handleBackgroundEvents(_:completionHandler:)``). Default true.
    public var sendsLaunchEvents = true
    /// The app group whose container holds the session's files; needed in app extensions. Default `nil`.
    public var sharedContainerIdentifier: String?
    /// Whether the system fetches a file as a whole if no bytes have been received and the server sends no strong validator.
    /// Default false: such a download waits for the app, unless its own `trust.resumesUnproven` is set.
    public var fetchesUnproven = false
    /// The settings that are ignored while the app is suspended, because the system cannot honour them. Downloads with other
    /// settings of this kind wait for the app. Default: none.
    public var ignoredSettings: Set<Setting> = []

    /// The maximum time for handling the events of a background launch; the system gives about half a minute.
    var wakeLimit: Duration = .seconds(20)
    /// The limits on the size and number of leases.
    var limits = HandoverLimits()

    public init(isDiscretionary: Bool = false, sendsLaunchEvents: Bool = true) {
        self.isDiscretionary = isDiscretionary
        self.sendsLaunchEvents = sendsLaunchEvents
    }

    /// A setting that the system cannot honour, and that can be ignored without harm to the file or a secret.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        /// Rate limits of the download, its session or the manager.
        case rateLimit
        /// Host and domain budgets.
        case hostBudget
        /// A proxy from Ferry's settings; the system uses its own.
        case proxy
        /// Certificates that replace the system's.
        case certificates
        /// Certificate verification is off; the system verifies certificates anyway.
        case insecure
        /// A fixed IP version.
        case addressFamily
        /// Several sources; only the first one is used.
        case mirrors
        /// An `http` URL; the system refuses it unless the app has an exception (App Transport Security).
        case unencrypted
    }

    /// The obstacles that do not prevent a handover.
    var accepts: Set<HandoverObstacle> { Set(ignoredSettings.compactMap { HandoverObstacle(rawValue: $0.rawValue) }) }
}

extension DownloadManager.Configuration {
    /// Returns a configuration whose downloads continue while the app is suspended; see ``BackgroundTransfer``. Has no effect if
    /// the list is not stored, or if the downloads run in a daemon.
    public func continuingInBackground(
        _ transfer: BackgroundTransfer = BackgroundTransfer()
    ) -> DownloadManager.Configuration {
        var configuration = self
        configuration.backgroundTransfer = transfer
        return configuration
    }
}
