import CFerry
import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Installs, removes and queries the daemon's systemd unit with `systemctl --user`.
package struct ServiceInstaller: Sendable {
    private let program: String
    private let isConfined: Bool
    private let directory: String
    private let environment: [String: String]

    /// The exit status and output of `systemctl`.
    package struct Answer: Sendable, Hashable {
        package var status: Int32
        package var output: String
    }

    /// A daemon that is running now.
    package struct Running: Sendable, Hashable {
        /// The process identifier; `nil` if unknown.
        package var process: Int?

        package init(process: Int?) { self.process = process }
    }

    /// - Parameters:
    ///   - program: The absolute path of the binary that the unit runs.
    ///   - isConfined: Whether the unit starts the daemon with `--confine`.
    ///   - environment: Provides `XDG_CONFIG_HOME`, `HOME` and `PATH`.
    package init(program: String, isConfined: Bool = false, environment: [String: String]) {
        self.program = program
        self.isConfined = isConfined
        self.environment = environment
        let given = environment["XDG_CONFIG_HOME"].flatMap { $0.utf8.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"] ?? StateDirectory.homeDirectory
        directory = (given ?? home + "/.config") + "/systemd/user"
    }

    /// The path of the unit file.
    package var unit: String { directory + "/" + SystemdUnit.name }
    package var isInstalled: Bool { FileManager.default.fileExists(atPath: unit) }

    /// Writes the unit, and starts the daemon now and at each login. Throws `disk`, or `conflict` with the output of systemctl; in
    /// that case a new unit file is removed again.
    ///
    /// Throws `conflict`, before anything is written, if a daemon is running that systemd did not start: the unit's
    /// daemon would find the state locked and exit.
    package func install(beside running: Running? = nil) throws(DownloadError) {
        // systemd can treat any control character as the end of a line.
        guard Paths.isAbsolute(program), !program.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableUnit, program))
        }
        if let running { try checkIsOurs(running) }
        let wasInstalled = isInstalled
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try SystemdUnit.text(program: program, isConfined: isConfined).write(
                toFile: unit, atomically: true, encoding: .utf8)
        } catch {
            throw DownloadError(
                .disk, ErrorPhrase(.fileFailed, ErrorPhrase(.write), unit, PrivateFile.reason(of: error)))
        }
        do throws(DownloadError) {
            try must(["daemon-reload"])
            try must(["enable", "--now", SystemdUnit.name])
        } catch {
            if !wasInstalled { try? FileManager.default.removeItem(atPath: unit) }
            throw error
        }
    }

    /// Stops the daemon and removes the unit. Returns false if there was none. Throws `conflict` with the output of systemctl; even
    /// then the unit file is removed.
    package func uninstall() throws(DownloadError) -> Bool {
        guard isInstalled else { return false }
        var failure: DownloadError?
        do throws(DownloadError) { try must(["disable", "--now", SystemdUnit.name]) } catch { failure = error }
        do { try FileManager.default.removeItem(atPath: unit) } catch {
            throw DownloadError(
                .disk, ErrorPhrase(.fileFailed, ErrorPhrase(.remove), unit, PrivateFile.reason(of: error)))
        }
        if let failure { throw failure }
        try must(["daemon-reload"])
        return true
    }

    /// Returns the unit's state: `active`, `inactive`, `failed`, …
    package func status() throws(DownloadError) -> String {
        let answer = try ask(["is-active", SystemdUnit.name])
        return answer.output.isEmpty ? "unknown" : answer.output
    }

    /// Stops the unit's daemon until the next login.
    package func stop() throws(DownloadError) { try must(["stop", SystemdUnit.name]) }

    /// The process of the unit; `nil` if it is not running.
    package func mainProcess() throws(DownloadError) -> Int? {
        let answer = try must(["show", "--property=MainPID", "--value", SystemdUnit.name])
        return Int(answer.output).flatMap { $0 > 0 ? $0 : nil }
    }

    private func checkIsOurs(_ running: Running) throws(DownloadError) {
        let own = try mainProcess()
        if let own, running.process == nil || running.process == own { return }
        let end = running.process.map { ErrorPhrase(.killDaemon, "\($0)") } ?? ErrorPhrase(.stopDaemon)
        throw DownloadError(.conflict, ErrorPhrase(.strayDaemon), suggestion: end, recovery: .needsUser)
    }

    @discardableResult private func must(_ arguments: [String]) throws(DownloadError) -> Answer {
        let answer = try ask(arguments)
        guard answer.status == 0 else {
            throw DownloadError(
                .conflict, ErrorPhrase(.systemctlFailed, arguments.joined(separator: " ")),
                suggestion: ErrorPhrase(.startUserSession),
                underlying: answer.output, recovery: .needsUser)
        }
        return answer
    }

    private func ask(_ arguments: [String]) throws(DownloadError) -> Answer {
        guard let systemctl = SearchPath.program("systemctl", in: environment["PATH"] ?? "/usr/bin:/bin") else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noSystemctl), suggestion: ErrorPhrase(.runByItself),
                recovery: .needsUser)
        }
        do throws(Spawning.Failure) {
            let words = [systemctl, "--user"] + arguments
            let run = try Spawning(words, environment: ChildEnvironment.command(from: environment)).run()
            return Answer(status: run.status, output: String(decoding: run.output, as: UTF8.self).trimmedText)
        } catch {
            throw DownloadError(.internal, "systemctl cannot be started", underlying: error.reason)
        }
    }
}

/// The systemd user unit of the daemon. Pure.
package enum SystemdUnit {
    package static let name = "ferry.service"

    /// Returns the unit file for a program at an absolute path.
    ///
    /// The unit does not restart after errors that persist, which are unusable settings (2) and another daemon (9), nor after
    /// repeated failures. The sandboxing options need no privileges, and affect neither the daemon nor the commands it runs. The
    /// memory limits apply to the daemon and its commands together; with `OOMPolicy=continue`, only a command that exceeds them is
    /// killed. systemd restarts a daemon that has not reported for three minutes that it is alive.
    package static func text(program: String, isConfined: Bool = false) -> String {
        """
        [Unit]
        Description=Ferry downloads
        Documentation=man:ferry(1)
        StartLimitIntervalSec=60
        StartLimitBurst=5

        [Service]
        Type=notify
        NotifyAccess=main
        WatchdogSec=180
        TimeoutStartSec=300
        ExecStart=\(quoted(program)) serve\(isConfined ? " --confine" : "")
        Restart=on-failure
        RestartSec=2
        RestartPreventExitStatus=2 9
        TimeoutStopSec=20
        UMask=0077
        NoNewPrivileges=yes
        LockPersonality=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        LimitCORE=0
        MemoryHigh=1G
        MemoryMax=2G
        OOMPolicy=continue

        [Install]
        WantedBy=default.target

        """
    }

    /// Quotes a path as one word of a command line (systemd.service(5), "Command lines").
    static func quoted(_ path: String) -> String {
        var text = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in path.unicodeScalars {
            switch scalar {
            case "\"", "\\": text.append(contentsOf: ["\\", scalar])
            case "%", "$": text.append(contentsOf: [scalar, scalar])
            default: text.append(scalar)
            }
        }
        return String(text) + "\""
    }
}

/// Looks up programs in `PATH`, as a shell does.
enum SearchPath {
    /// Returns the first executable file of this name in the directories of `PATH`; `nil` if there is none. A name with
    /// a slash is used as a path.
    static func program(_ name: String, in directories: String) -> String? {
        if name.utf8.contains("/") { return isProgram(name) ? name : nil }
        return directories.split(at: ":").lazy.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR && access(path, X_OK) == 0
    }
}
