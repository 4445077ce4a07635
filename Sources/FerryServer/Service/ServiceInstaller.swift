import Ferry
package import FerryCore
import Foundation

/// Writes, removes and asks about the daemon's unit, with `systemctl --user`.
package struct ServiceInstaller: Sendable {
    private let program: String
    private let isConfined: Bool
    private let directory: String
    private let environment: [String: String]

    /// What `systemctl` said.
    package struct Answer: Sendable, Hashable {
        package var status: Int32
        package var output: String
    }

    /// A daemon that answers now.
    package struct Running: Sendable, Hashable {
        /// Its process; `nil` where it does not say.
        package var process: Int?

        package init(process: Int?) { self.process = process }
    }

    /// - Parameters:
    ///   - program: The absolute path of the binary that the unit runs.
    ///   - isConfined: The daemon writes to its own directories alone.
    ///   - environment: `XDG_CONFIG_HOME`, `HOME` and `PATH` are looked at.
    package init(program: String, isConfined: Bool = false, environment: [String: String]) {
        self.program = program
        self.isConfined = isConfined
        self.environment = environment
        let given = environment["XDG_CONFIG_HOME"].flatMap { $0.utf8.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"] ?? StateDirectory.homeDirectory
        directory = (given ?? home + "/.config") + "/systemd/user"
    }

    /// Where the unit is, or would be.
    package var unit: String { directory + "/" + SystemdUnit.name }
    package var isInstalled: Bool { FileManager.default.fileExists(atPath: unit) }

    /// Writes the unit, and lets systemd start it now and at each login. Throws `disk`, or `conflict` with what systemctl
    /// said; the unit stays then.
    ///
    /// Where a daemon runs that systemd did not start, the unit's would leave: throws `conflict`, and writes nothing.
    package func install(beside running: Running? = nil) throws(DownloadError) {
        // Any control character may end a line for systemd.
        guard Paths.isAbsolute(program), !program.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableUnit, program))
        }
        if let running { try checkIsOurs(running) }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try SystemdUnit.text(program: program, isConfined: isConfined).write(
                toFile: unit, atomically: true, encoding: .utf8)
        } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.write), unit, "\(error)"))
        }
        try must(["daemon-reload"])
        try must(["enable", "--now", SystemdUnit.name])
    }

    /// Stops it and takes the unit away. False when there was none.
    package func uninstall() throws(DownloadError) -> Bool {
        guard isInstalled else { return false }
        try must(["disable", "--now", SystemdUnit.name])
        do { try FileManager.default.removeItem(atPath: unit) } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.remove), unit, "\(error)"))
        }
        try must(["daemon-reload"])
        return true
    }

    /// What systemd says of it: `active`, `inactive`, `failed`, …
    package func status() throws(DownloadError) -> String {
        let answer = try ask(["is-active", SystemdUnit.name])
        return answer.output.isEmpty ? "unknown" : answer.output
    }

    private func checkIsOurs(_ running: Running) throws(DownloadError) {
        let answer = try must(["show", "--property=MainPID", "--value", SystemdUnit.name])
        // 0 where the unit does not run.
        let own = Int(answer.output).flatMap { $0 > 0 ? $0 : nil }
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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: systemctl)
        process.arguments = ["--user"] + arguments
        process.environment = ChildEnvironment.command(from: environment)
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        do { try process.run() } catch {
            throw DownloadError(.internal, "systemctl cannot be started", underlying: "\(error)")
        }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            status: process.terminationStatus,
            output: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
