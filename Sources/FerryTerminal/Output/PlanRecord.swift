import FerryCore
package import Ferry

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Formats the result of `ferry plan` as JSON or text.
package enum PlanRecord {
    /// Returns one JSON object, whose members are listed in the second table of docs/cli.md.
    package static func line(_ plan: DownloadPlan, date: Date) -> JSONLine { .plan(plan, date: date) }

    /// Returns the size in bytes, the date and the URL of an object, with tabs between them.
    package static func text(_ object: ListedObject) -> String {
        [object.totalBytes.map { "\($0)" } ?? "", object.lastModified ?? "", object.url]
            .map { PrintableText.escape($0) }.joined(separator: "\t")
    }

    /// Returns one fact per line, as name and value.
    ///
    /// - Parameter rule: The rule for an existing file of the same name.
    package static func text(_ plan: DownloadPlan, _ rule: ConflictRule = .rename) -> [String] {
        let digests = plan.digests.map(\.description).joined(separator: ", ")
        let resume: Reason =
            switch plan.resumability {
            case .proven where !plan.acceptsRanges: "yes, but all bytes are sent again"
            case .proven: "yes, proven"
            case .sampled: "yes, by comparing samples"
            case .no: "no"
            }
        let validator = plan.validator.map { "\($0) (\(plan.validatorStrength.rawValue))" }
        let size = plan.totalBytes.map { ("\(ByteText.size($0)) (\($0) bytes)" as Reason).local }
        let connections: Reason =
            plan.maxConnections > 1 ? "up to \(plan.maxConnections)" : .words("\(plan.maxConnections)")
        let existing: Reason? = plan.existingPath.map { path in
            if plan.mayBeComplete { return "\(path), of the same size: it is compared, and kept if it is the same" }
            guard Paths.name(of: path).hasSameBytes(as: plan.name) else { return "\(path): the name is taken" }
            return switch rule {
            case .rename: "\(path): the name is taken"
            case .overwrite: "\(path): it is replaced"
            case .fail: "\(path): it is kept, and the download fails"
            case .skip: "\(path): it is kept, and nothing is fetched"
            }
        }
        // An existing file of the same size is not fetched again; a part file already has its full size.
        let needed = plan.mayBeComplete || plan.heldBytes != nil ? 0 : plan.totalBytes ?? 0
        let space = plan.freeBytes.map { free in
            let size = ByteText.size(free)
            return (free < needed ? "\(size): too little" as Reason : .words(size)).local
        }
        let none = ("none" as Reason).local
        let facts: [(name: String, value: String)] = [
            ("name", plan.name),
            ("exists", existing?.local ?? ("no" as Reason).local),
            ("url", plan.redactedURL),
            (
                "redirects",
                plan.redactedRedirects.isEmpty ? none : plan.redactedRedirects.joined(separator: " → ")
            ),
            ("size", size ?? ("unknown" as Reason).local),
            ("ranges", plan.acceptsRanges ? ("yes" as Reason).local : ("no" as Reason).local),
            ("validator", validator ?? none),
            ("digest", digests.isEmpty ? ("none offered" as Reason).local : digests),
            ("type", plan.contentType ?? ("not stated" as Reason).local),
            ("free space", space ?? ("unknown" as Reason).local),
            ("held", plan.heldBytes.map(ByteText.size) ?? ("nothing" as Reason).local),
            (
                "resumable",
                plan.reason.isEmpty ? resume.local : resume.local + ": " + Reason.pattern(plan.reason, []).local
            ),
            ("connections", connections.local),
        ]
        return facts.map {
            DisplayWidth.pad(Reason.pattern($0.name, []).local + ":", to: 13) + PrintableText.escape($0.value)
        }
    }
}
