/// One thing that `ferry doctor` has looked at.
package struct DoctorCheck: Sendable, Hashable, Encodable {
    package enum Level: String, Sendable, Hashable, Encodable {
        case ok
        /// It works, but not as well as it could.
        case warning
        /// Something will not work.
        case problem
    }

    package var name: String
    package var level: Level
    /// What is so.
    package var text: String
    /// What can be done; `nil` where nothing need be.
    package var advice: String?

    package init(_ name: String, _ level: Level, _ text: String, advice: String? = nil) {
        self.name = name
        self.level = level
        self.text = text
        self.advice = advice
    }
}

/// What `ferry doctor` says; exit code 1 when there is a problem.
package struct DoctorReport: Sendable, Hashable, Encodable {
    /// There is no problem; there may be warnings.
    package var ok: Bool
    package var checks: [DoctorCheck]

    package init(_ checks: [DoctorCheck]) {
        self.checks = checks
        ok = !checks.contains { $0.level == .problem }
    }

    package var exitCode: ExitCode { ok ? .done : .internal }

    /// A line for each check, and one for what can be done about it.
    package var lines: [String] {
        let name = checks.map(\.name.count).max() ?? 0
        return checks.flatMap { check in
            let head = DisplayWidth.pad(check.level.rawValue, to: 9) + DisplayWidth.pad(check.name, to: name + 2)
            let advice = check.advice.map { String(repeating: " ", count: name + 11) + PrintableText.escape($0) }
            return [head + PrintableText.escape(check.text)] + (advice.map { [$0] } ?? [])
        }
    }
}
