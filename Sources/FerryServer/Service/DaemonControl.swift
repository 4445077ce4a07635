import CFerry
package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The process of the daemon that uses a state directory, as the commands see it.
package struct DaemonControl: Sendable {
    private let lock: String
    private let installer: ServiceInstaller
    /// How long a daemon may take to save its downloads before it exits.
    private static let longestEnd: Duration = .seconds(60)

    package init(_ place: DaemonPaths, environment: [String: String]) {
        lock = place.lock
        installer = ServiceInstaller(program: "", environment: environment)
    }

    /// The process that holds the lock of the state directory; `nil` if none does.
    package var holder: Int? { DaemonLock.isTaken(lock) ? DaemonLock.owner(of: lock) : nil }

    /// Whether a process logs to the file of the state directory: the process holds the lock there, and its standard error is
    /// `/dev/null`, or unknown.
    package func logsToFile(_ process: Int) -> Bool {
        guard holder == process else { return false }
        var output = stat()
        return stat("/proc/\(process)/fd/2", &output) != 0 || LogFile.isNull(output)
    }

    /// Whether systemd has started this process.
    package func isService(_ process: Int) -> Bool {
        installer.isInstalled && (try? installer.mainProcess()) == process
    }

    /// Ends a daemon and returns once the daemon holds no lock or no longer exists.
    package func end(_ process: Int) async throws(DownloadError) {
        let hasLock = holder == process
        if isService(process) {
            try installer.stop()
        } else if kill(pid_t(truncatingIfNeeded: process), SIGTERM) != 0, errno != ESRCH {
            throw DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonStays, "\(process)"),
                underlying: String(cString: strerror(errno)), recovery: .needsUser)
        }
        let deadline = ContinuousClock.now + Self.longestEnd
        while hasLock ? holder == process : kill(pid_t(truncatingIfNeeded: process), 0) == 0 {
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                throw DownloadError(
                    .daemonUnavailable, ErrorPhrase(.daemonStays, "\(process)"), suggestion: ErrorPhrase(.lookAtLog),
                    recovery: .needsUser)
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }
}
