public import Ferry
import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DownloadManager.Configuration {
    /// Runs the downloads in the daemon, so that they continue after this process ends. The next launch with the same
    /// identifier finds them and receives the events of those that have ended in the meantime.
    /// `background(identifier:directory:)` does the same on iOS and similar systems, where the system continues the downloads.
    ///
    /// The first use connects to the daemon, or starts it. Only the settings of a session apply (`maxConcurrentDownloads`,
    /// `rateLimit`, `allowsMeteredNetwork`, `allowsConstrainedNetwork`), within the daemon's limits and only after they have
    /// been changed; the daemon determines all other settings.
    ///
    /// - Parameters:
    ///   - identifier: The name of the session, as for `default(identifier:directory:)`; several managers, also in different
    ///     processes, may share one session.
    ///   - directory: The default directory for downloads; `nil` for the session's previous one, initially the
    ///     user's Downloads.
    ///   - binary: The program `ferry`, to start the daemon if needed; `nil` to search `FERRY_BINARY`, the
    ///     directory of the app's own program, and `PATH`.
    ///   - launchCommand: A program and its arguments, run without a shell and with `FERRY_SESSION` set when
    ///     downloads have ended and no process of the session is connected; empty for none, `nil` to keep the
    ///     previous one.
    @available(iOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(tvOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(watchOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(visionOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    public static func background(
        identifier: String, directory: String? = nil, binary: String? = nil, launchCommand: [String]? = nil
    ) -> DownloadManager.Configuration {
        Self(
            daemon: DaemonAddress(
                identifier: identifier, directory: directory.map(DownloadManager.absolute),
                binary: binary.map(DownloadManager.absolute), launchCommand: launchCommand))
    }

    /// Like ``background(identifier:directory:binary:launchCommand:)``, with the URL of the directory, which must be a file URL.
    @available(iOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(tvOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(watchOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    @available(visionOS, unavailable, message: "no daemon: use background(identifier:directory:)")
    public static func background(identifier: String, directory: URL) -> DownloadManager.Configuration {
        .background(identifier: identifier, directory: directory.requiredPath)
    }

    /// Settings for a session of the daemon, which stores the list and determines the other settings.
    init(daemon place: DaemonAddress) {
        self.init(
            BackendProvider(identifier: place.identifier) { configuration, clock in
                RemoteSession(place, configuration, clock: clock)
            })
        waitsForUser = true
    }
}
