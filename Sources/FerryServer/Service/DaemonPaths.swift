import Ferry
import FerryAPI
import FerryClient
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The paths of a daemon's state, socket and settings. All absolute.
package struct DaemonPaths: Sendable, Hashable {
    /// The directory of the lock, the tokens and the sessions, with the catalogue below `sessions/daemon`.
    package var state: String
    package var socket: String
    package var settings: String
    /// The default download directory.
    package var downloads: String

    package init(state: String, socket: String, settings: String, downloads: String) {
        self.state = state
        self.socket = socket
        self.settings = settings
        self.downloads = downloads
    }

    package var lock: String { state + "/daemon.lock" }
    /// The log file that is used when standard error is `/dev/null`.
    package var log: String { state + "/daemon.log" }
    package var tokens: String { state + "/tokens.json" }
    /// The directory of the HTML files that open the page in a browser, beside the socket.
    package var signIn: String { Paths.parent(of: socket) + "/sign-in" }
    /// The file that contains the sets and their states.
    package var sets: String { state + "/sets.json" }
    package var sessions: String { state + "/sessions.json" }
    /// The identifier of the daemon's list, in the same namespace as the lists of apps.
    package static let listIdentifier = "daemon"
    package var catalogue: String { state + "/sessions/" + Self.listIdentifier }

    /// Returns the settings that a daemon would have if it started now without flags.
    ///
    /// - Parameter doors: The doors of the program, whose settings are checked too.
    package func currentSettings(doors: [DoorKind]) throws(DownloadError) -> DaemonSettings {
        try settingsSource(doors).settings()
    }

    /// The members of the settings file that are not settings of the daemon or of its doors.
    package func unknownSettings(doors: [DoorKind]) -> [String] { (try? settingsSource(doors))?.unknownMembers ?? [] }

    private func settingsSource(_ doors: [DoorKind]) throws(DownloadError) -> SettingsSource {
        var options = Daemon.Options()
        options.environment = ProcessInfo.processInfo.environment
        options.doors = doors
        return try options.settings(at: self)
    }

    /// Determines the paths by the XDG Base Directory Specification, `FERRY_STATE_DIR`, `FERRY_SOCKET` and
    /// `FERRY_CONFIG`, whose relative paths are below the working directory. The arguments take precedence.
    package init(
        environment: [String: String], home: String, userID: UInt32, state: String? = nil, socket: String? = nil,
        settings: String? = nil, workingDirectory: String = WorkingDirectory.path
    ) {
        func named(_ name: String) -> String? { ChildEnvironment.place(name, in: environment, of: workingDirectory) }
        // The specification requires that relative paths be ignored.
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.utf8.hasPrefix("/") ? $0 : nil }
        }
        self.state =
            state ?? named("FERRY_STATE_DIR")
            ?? (absolute("XDG_STATE_HOME") ?? StateDirectory.root(home: home)) + "/ferry"
        self.socket =
            socket
            ?? DaemonSocket.path(
                environment: environment, home: home, user: userID, state: state, workingDirectory: workingDirectory)
        self.settings =
            settings ?? named("FERRY_CONFIG")
            ?? (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/ferry/ferry.json"
        downloads =
            Self.downloads(
                environment: environment, home: home,
                configured: (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/user-dirs.dirs")
    }

    /// The paths for this process's environment.
    package static func current(
        state: String? = nil, socket: String? = nil, settings: String? = nil
    ) -> DaemonPaths {
        DaemonPaths(
            environment: ProcessInfo.processInfo.environment, home: StateDirectory.homeDirectory,
            userID: PeerCheck.ownUser,
            state: state, socket: socket, settings: settings)
    }

    /// Returns the user's download directory: `XDG_DOWNLOAD_DIR`, from the environment or from `user-dirs.dirs`.
    private static func downloads(environment: [String: String], home: String, configured: String) -> String {
        if let given = environment["XDG_DOWNLOAD_DIR"], given.utf8.hasPrefix("/") { return given }
        let text = (try? String(contentsOfFile: configured, encoding: .utf8)) ?? ""
        for line in text.split(at: "\n") {
            guard let quoted = line.dropping(prefix: "XDG_DOWNLOAD_DIR=") else { continue }
            let value = String(quoted.unicodeScalars.filter { $0 != "\"" })
            let path = value.dropping(prefix: "$HOME").map { home + $0 } ?? value
            if path.utf8.hasPrefix("/"), path != home + "/" { return path }
        }
        return home + "/Downloads"
    }
}
