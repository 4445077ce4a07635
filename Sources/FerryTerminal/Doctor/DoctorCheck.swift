package import FerryCore

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
        let name = checks.map(\.name.count).max() ?? 0
        return checks.flatMap { check in
            let head = DisplayWidth.pad(check.level.rawValue, to: 9) + DisplayWidth.pad(check.name, to: name + 2)
            let advice = check.advice.map { String(repeating: " ", count: name + 11) + $0.shown }
            return [head + check.text.shown] + (advice.map { [$0] } ?? [])
        }
    }
}
