import FerryCore
package import Ferry
package import struct Foundation.Date

/// Formats the result of `ferry plan` as JSON or text.
package enum PlanRecord {
    /// Returns one JSON object; its members are the second table in docs/cli.md.
    package static func line(_ plan: DownloadPlan, date: Date) -> JSONLine { .plan(plan, date: date) }

    /// Returns one fact per line, as name and value.
    package static func text(_ plan: DownloadPlan) -> [String] {
        let digests = plan.digests.map(\.description).joined(separator: ", ")
        let resume =
            switch plan.resumability {
            case .proven: "yes, proven"
            case .sampled: "yes, by comparing samples"
            case .no: "no"
            }
        let validator = plan.validator.map { "\($0) (\(plan.validatorStrength.rawValue))" } ?? "none"
        let size = plan.totalBytes.map { "\(ByteText.size($0)) (\($0) bytes)" }
        let connections = "\(plan.maxConnections)"
        let existing = plan.existingPath.map { path in
            if plan.mayBeComplete { return "\(path), of the same size: it is compared, and kept if it is the same" }
            return Paths.name(of: path) == plan.name ? "\(path): --on-conflict decides" : "\(path): the name is taken"
        }
        let facts: [(name: String, value: String)] = [
            ("name", plan.name),
            ("exists", existing ?? "no"),
            ("url", plan.url),
            ("redirects", plan.redirects.isEmpty ? "none" : plan.redirects.joined(separator: " → ")),
            ("size", size ?? "unknown"),
            ("ranges", plan.acceptsRanges ? "yes" : "no"),
            ("validator", validator),
            ("digest", digests.isEmpty ? "none offered" : digests),
            ("type", plan.contentType ?? "not said"),
            ("free space", plan.freeBytes.map(ByteText.size) ?? "unknown"),
            ("held", plan.heldBytes.map(ByteText.size) ?? "nothing"),
            ("resumable", plan.reason.isEmpty ? resume : resume + ": " + plan.reason),
            ("connections", plan.maxConnections > 1 ? "up to " + connections : connections),
        ]
        return facts.map { DisplayWidth.pad($0.name + ":", to: 13) + PrintableText.escape($0.value) }
    }
}
