import Ferry
package import FerryAPI
package import FerryCore

/// Rates the findings of `ferry doctor`. Pure.
package enum DoctorPolicy {
    /// Checks the limit of open files, which is `nil` if there is none.
    package static func openFiles(_ limit: Int?) -> DoctorCheck {
        guard let limit else { return DoctorCheck("open files", .ok, "no limit") }
        if limit >= 1024 { return DoctorCheck("open files", .ok, "\(limit)") }
        return DoctorCheck(
            "open files", limit >= 64 ? .warning : .problem, "only \(limit): fewer downloads and connections at a time",
            advice: "raise it with ulimit -n")
    }

    /// The state of a directory.
    package struct Directory: Sendable, Hashable {
        package var isThere: Bool
        /// Whether files can be created in the directory; for a missing directory, whether it can be created.
        package var isWritable: Bool
        /// Whether the directory belongs to this user, and is not a symbolic link.
        package var isOurs: Bool
        /// Whether group or others may write to the directory.
        package var isOpen: Bool
        /// Whether group and others have no permission at all for the directory.
        package var isPrivate: Bool
        package var freeBytes: ByteCount?

        package init(
            isThere: Bool, isWritable: Bool, isOurs: Bool, isOpen: Bool, isPrivate: Bool, freeBytes: ByteCount?
        ) {
            self.isThere = isThere
            self.isWritable = isWritable
            self.isOurs = isOurs
            self.isOpen = isOpen
            self.isPrivate = isPrivate
            self.freeBytes = freeBytes
        }
    }

    /// Checks the download directory.
    package static func downloads(_ path: String, _ found: Directory) -> DoctorCheck {
        guard found.isWritable else {
            return unwritable(
                "downloads", path, found, advice: "change its permissions, or set another one: ferry set dir=DIR")
        }
        guard found.isThere else {
            return DoctorCheck("downloads", .ok, "\(path) does not exist yet; it is created when needed")
        }
        let text: Reason = found.freeBytes.map { "\(path), \(ByteText.size($0)) free" } ?? .words(path)
        guard found.freeBytes ?? .max >= 1_000_000_000 else {
            return DoctorCheck("downloads", .warning, text, advice: "make room: downloads wait when it is full")
        }
        return DoctorCheck("downloads", .ok, text)
    }

    /// Checks the directory of the daemon's catalogue.
    package static func state(_ path: String, _ found: Directory) -> DoctorCheck {
        guard found.isWritable else {
            return unwritable(
                "state", path, found, advice: "make it this user's, or name another one: FERRY_STATE_DIR")
        }
        guard found.isThere else { return DoctorCheck("state", .ok, "\(path) is not there yet") }
        guard found.isOurs else { return foreign("state", path) }
        guard !found.isOpen else {
            return DoctorCheck(
                "state", .problem, "others can write to \(path)", advice: "remove write access for others: chmod go-w")
        }
        guard let free = found.freeBytes, free < comfortableState else {
            return DoctorCheck("state", .ok, .words(path))
        }
        return DoctorCheck(
            "state", free < leastState ? .problem : .warning, "\(path), \(ByteText.size(free)) free",
            advice: "make room: the daemon keeps its list there")
    }

    /// The free space below which the daemon may not start, or not store a change.
    private static let leastState: ByteCount = 1_000_000
    /// The free space above which the catalogue's log and copies have room.
    private static let comfortableState: ByteCount = 16_000_000

    /// Reports damaged catalogues that were moved aside; `nil` if there are none.
    ///
    /// - Parameter paths: The paths of the damaged catalogues, with the latest one last.
    package static func list(_ paths: [String]) -> DoctorCheck? {
        guard let last = paths.last else { return nil }
        return DoctorCheck(
            "list", .warning,
            paths.count == 1
                ? "the list was damaged, and is kept as \(last)"
                : "the list was damaged \(paths.count) times; the last one is kept as \(last)",
            advice: "unfinished downloads are found again; remove the file when you do not need it")
    }

    /// Reports whether a daemon could start with its settings, from the file and the environment.
    ///
    /// - Parameter unknown: The members of the file that are not settings.
    package static func settings(_ path: String, _ error: DownloadError?, unknown: [String]) -> DoctorCheck {
        guard let error else {
            if unknown.isEmpty { return DoctorCheck("settings", .ok, .words(path)) }
            return DoctorCheck(
                "settings", .warning, "\(path) has unknown settings: \(unknown.joined(separator: ", "))",
                advice: "correct the name: docs/daemon.md lists all")
        }
        return DoctorCheck("settings", .problem, error.reason, advice: error.suggestionPhrase.map { .phrase($0) })
    }

    /// Checks the directory of the daemon's socket.
    ///
    /// - Parameter isServed: Whether a daemon answers, for example at a socket that systemd has made. A daemon makes its own socket
    ///   only in a private directory.
    package static func socket(_ directory: String, _ found: Directory, isServed: Bool) -> DoctorCheck {
        guard found.isWritable else {
            return unwritable(
                "socket", directory, found, advice: "make it this user's, or name another socket: FERRY_SOCKET")
        }
        if found.isThere, !isServed {
            guard found.isOurs else { return foreign("socket", directory) }
            guard found.isPrivate else {
                return DoctorCheck(
                    "socket", .problem, .phrase(ErrorPhrase(.openDirectory, directory)),
                    advice: .phrase(ErrorPhrase(.closeOrChoose)))
            }
        }
        return DoctorCheck("socket", .ok, found.isThere ? .words(directory) : "\(directory) is not there yet")
    }

    private static func foreign(_ name: String, _ path: String) -> DoctorCheck {
        DoctorCheck(
            name, .problem, .phrase(ErrorPhrase(.notOurDirectory, path)), advice: .phrase(ErrorPhrase(.removeOrChoose)))
    }

    private static func unwritable(
        _ name: String, _ path: String, _ found: Directory, advice: Reason
    ) -> DoctorCheck {
        let text: Reason = found.isThere ? "\(path) cannot be written to" : "\(path) cannot be created"
        return DoctorCheck(name, .problem, text, advice: advice)
    }

    /// The result of contacting the daemon.
    package enum Found: Sendable, Hashable {
        case answers(Greeting)
        /// No daemon is listening.
        case silent
        case failure(DownloadError)
    }

    /// - Parameter version: The version of this program.
    package static func daemon(_ socket: String, _ found: Found, version: String) -> DoctorCheck {
        switch found {
        case .answers(let greeting) where greeting.version == version:
            return DoctorCheck("daemon", .ok, "process \(greeting.pid), version \(greeting.version), at \(socket)")
        case .answers(let greeting):
            return DoctorCheck(
                "daemon", .warning, "process \(greeting.pid) has version \(greeting.version), this program \(version)",
                advice: "stop the old one; the next ferry add starts the new one")
        case .silent:
            return DoctorCheck("daemon", .ok, "not running; ferry add starts it")
        case .failure(let error):
            return DoctorCheck("daemon", .problem, error.reason, advice: error.suggestionPhrase.map { .phrase($0) })
        }
    }

    /// Reports the daemon's confinement; `nil` if no daemon responds.
    package static func confinement(_ found: Found) -> DoctorCheck? {
        guard case .answers(let greeting) = found else { return nil }
        guard let confinement = greeting.confinement else {
            return DoctorCheck("confinement", .ok, "none: the daemon may write wherever its user may")
        }
        let text: Reason = "the daemon may write only below \(confinement.directories.joined(separator: ", "))"
        guard !confinement.gaps.isEmpty else { return DoctorCheck("confinement", .ok, text) }
        let gaps = confinement.gaps.map { gap in
            let text: Reason =
                switch gap {
                case .truncation: "cutting files short elsewhere"
                case .devices: "controlling devices"
                case .signals: "sending signals to other processes"
                }
            return text
        }
        let all = gaps.dropFirst().reduce(gaps[0]) { "\($0), \($1)" }
        return DoctorCheck(
            "confinement", .warning, "\(text); this kernel cannot prevent \(all)",
            advice: "use Linux 6.12 or newer to prevent that too")
    }

    /// Checks the proxy variables of the environment.
    ///
    /// - Parameter daemon: The proxy in the daemon's settings.
    package static func proxy(_ environment: [String: String], daemon: String? = nil) -> DoctorCheck {
        do throws(TextError) {
            _ = try ProxySettings(environment: environment)
        } catch { return DoctorCheck("proxy", .problem, error.reason, advice: "correct the variable, or unset it") }
        let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
        let set = names.filter { !(environment[$0] ?? "").isEmpty }
        let found: Reason = set.isEmpty ? "none" : "from \(set.joined(separator: ", "))"
        return DoctorCheck("proxy", .ok, daemon.map { "\(found); of the daemon: \($0)" } ?? found)
    }

    /// The files of trusted root certificates to try, in this order.
    package static let authorities = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// - Parameter readable: The first readable file of root certificates; `nil` for none.
    package static func certificates(_ readable: String?) -> DoctorCheck {
        if let readable { return DoctorCheck("certificates", .ok, .words(readable)) }
        return DoctorCheck(
            "certificates", .problem, "no file of trusted authorities: https is unavailable",
            advice: "install ca-certificates, or name a file with --ca-file")
    }
}

/// The result of one check of `ferry doctor`.
package struct DoctorCheck: Sendable, Hashable, Encodable {
    package enum Level: String, Sendable, Hashable, Encodable {
        case ok
        /// Works, with limitations.
        case warning
        /// Will not work.
        case problem
    }

    package var name: String
    package var level: Level
    /// The finding.
    package var text: Reason
    /// The suggested remedy; `nil` if none is needed.
    package var advice: Reason?

    package init(_ name: String, _ level: Level, _ text: Reason, advice: Reason? = nil) {
        self.name = name
        self.level = level
        self.text = text
        self.advice = advice
    }
}

/// The report of `ferry doctor`. The exit code is 1 if it contains a problem.
package struct DoctorReport: Sendable, Hashable, Encodable {
    /// Whether no check found a problem; warnings are allowed.
    package var ok: Bool
    package var checks: [DoctorCheck]

    package init(_ checks: [DoctorCheck]) {
        self.checks = checks
        ok = !checks.contains { $0.level == .problem }
    }

    package var exitCode: ExitCode { ok ? .done : .internal }

    /// One line for each check, followed by its advice.
    package var lines: [String] {
        let names = checks.map { Reason.pattern($0.name, []).local }
        let widest = names.map { DisplayWidth.columns(of: $0) }.max() ?? 0
        return zip(checks, names).flatMap { check, name in
            let level = Reason.pattern(check.level.rawValue, []).local
            let head = DisplayWidth.pad(level, to: 9) + DisplayWidth.pad(name, to: widest + 2)
            let advice = check.advice.map { String(repeating: " ", count: widest + 11) + $0.shown }
            return [head + check.text.shown] + (advice.map { [$0] } ?? [])
        }
    }
}
