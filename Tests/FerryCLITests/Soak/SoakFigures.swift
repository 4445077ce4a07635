import Foundation

/// The counts of a soak, for `docs/reliability.md`.
struct SoakFigures: Sendable {
    var rounds = 0
    var ends: [SoakKind: Int] = [:]
    var kills = 0
    var clients = 0
    var fullDisks = 0
    var bytesServed: Int64 = 0
    var gateway = SoakGateway.Counts()
    var sets = SoakSets.Counts()
    /// Files that have left the cache of the gateway, and requests that it has refused itself, in the daemon's last run.
    var (evictions, refusals) = (0, 0)
    /// The values of the daemon's last run: after its warm-up, and at its end.
    var usage: (warm: SoakUsage, last: SoakUsage)?
    var mostMemory: Int64 = 0
    /// The bytes of its state, with the cache of the gateway, then.
    var disk: (warm: Int64, last: Int64)?
    var isConfined = false

    var downloads: Int { ends.values.reduce(0, +) }

    /// The table, as Markdown.
    ///
    /// - Parameter program: The program that the daemon is.
    func table(seconds: Double, program: URL, load: String) -> String {
        var rows: [(String, String)] = [
            ("program", program.pathComponents.suffix(2).joined(separator: "/")),
            ("time", "\(Int(seconds)) s"), ("rounds", "\(rounds)"), ("downloads", "\(downloads)"),
            ("… completed, each with the right bytes", "\(count { $0 == .completed })"),
            ("… failed, as expected", "\(count { if case .failed = $0 { true } else { false } })"),
            (
                "… waiting for their user, as expected",
                "\(count { if case .waiting = $0 { true } else { false } })"
            ),
            ("… cancelled by a client", "\(count { $0 == .cancelled })"), ("… lost", "0"),
            ("sets of files, each synced twice", "\(sets.ends.values.reduce(0, +))"),
            ("… complete", "\(sets.ends[.complete] ?? 0)"),
            ("… incomplete, as expected", "\(sets.ends[.incomplete] ?? 0)"),
            ("… failed, as expected", "\(sets.ends[.failed] ?? 0)"),
            ("… removed by a client while their list was awaited", "\(sets.ends[.removed] ?? 0)"),
            ("files of sets that were compared", "\(sets.files)"), ("requests to the gateway", "\(gateway.requests)"),
            ("… answered with a whole file, each with the right bytes", "\(gateway.whole)"),
            ("… answered with a part, each with the right bytes", "\(gateway.parts)"),
            ("… refused or broken off, as expected", "\(gateway.refused)"),
            ("… left by the client in the middle", "\(gateway.left)"),
            ("… ended by a kill of the daemon", "\(gateway.killed)"),
            ("received through the gateway", Self.megabytes(gateway.bytes)),
            ("sent by the server", Self.megabytes(bytesServed)), ("kills of the daemon", "\(kills)"),
            ("clients that came and went", "\(clients)"), ("times that the disk was full", "\(fullDisks)"),
            ("confined", isConfined ? "yes" : "no"),
        ]
        if let disk {
            rows += [
                ("files that left the cache of the gateway, in the last process", "\(evictions)"),
                ("requests that the gateway refused itself, in the last process", "\(refusals)"),
                (
                    "state and cache on the disk, after the warm-up and at the end",
                    "\(Self.megabytes(disk.warm)) and \(Self.megabytes(disk.last))"
                ),
            ]
        }
        if let (warm, last) = usage {
            rows += [
                ("descriptors, after the warm-up and at the end", "\(warm.descriptors) and \(last.descriptors)"),
                ("threads, after the warm-up and at the end", "\(warm.threads) and \(last.threads)"),
                ("child processes, after the warm-up and at the end", "\(warm.children) and \(last.children)"),
                (
                    "resident memory, after the warm-up and at the end",
                    "\(Self.megabytes(warm.memory)) and \(Self.megabytes(last.memory))"
                ), ("most resident memory", Self.megabytes(mostMemory)),
            ]
        }
        rows.append(("load of the machine at the end", load))
        let width = rows.map(\.0.count).max() ?? 0
        let values = rows.map(\.1.count).max() ?? 0
        func line(_ left: String, _ right: String) -> String {
            "| " + left.padding(toLength: width, withPad: " ", startingAt: 0) + " | "
                + String(repeating: " ", count: values - right.count) + right + " |"
        }
        let rule =
            "| " + String(repeating: "-", count: width) + " | " + String(repeating: "-", count: values - 1) + ": |"
        return ([line("", ""), rule] + rows.map(line)).joined(separator: "\n") + "\n"
    }

    private func count(_ fits: (SoakKind.End) -> Bool) -> Int {
        ends.reduce(0) { fits($1.key.end) ? $0 + $1.value : $0 }
    }

    private static func megabytes(_ bytes: Int64) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }
}
