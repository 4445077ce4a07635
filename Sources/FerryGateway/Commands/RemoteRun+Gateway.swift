import Ferry
import FerryAPI
import FerryClient
import FerryCore
import FerryTerminal

/// The cache of the daemon's gateway: `ferry gateway`.
extension RemoteRun {
    enum GatewayAction: String, Sendable, Hashable, CaseIterable { case usage, list, purge, verify }

    /// The files to which an action applies.
    struct GatewayChoice: Sendable, Hashable {
        var names: [String]
        var olderThan: Duration?
        var all: Bool
        var isSure: Bool

        init(names: [String] = [], olderThan: Duration? = nil, all: Bool = false, isSure: Bool = false) {
            (self.names, self.olderThan, self.all, self.isSure) = (names, olderThan, all, isSure)
        }

        fileprivate var isEmpty: Bool { names.isEmpty && olderThan == nil && !all }
    }

    /// Runs `ferry gateway`.
    ///
    /// - Parameters:
    ///   - word: The word of an action; `nil` to print the usage.
    ///   - areNames: Whether to list only names, for a shell's completions.
    func gateway(
        _ word: String?, _ choice: GatewayChoice = GatewayChoice(), areNames: Bool = false
    ) async throws -> ExitCode {
        guard let action = word.map({ GatewayAction(rawValue: $0) }) ?? .usage else {
            let known = GatewayAction.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(TextError.quote(word ?? "")) is not an action on the gateway: the actions are \(known)")
        }
        guard action == .purge || choice.isEmpty else {
            throw UsageError("names, --older-than and --all are for ferry gateway purge")
        }
        switch action {
        case .usage:
            let usage = try await link.ask(.gateway, as: GatewayUsage.self)
            if json { say(usage) } else { CacheText.lines(usage).forEach(say) }
        case .list:
            let files = try await link.ask(.gatewayFiles, as: GatewayItems.self).items
            if areNames {
                for file in files { say(PrintableText.escape(file.name)) }
            } else {
                show(files, among: files)
            }
            if files.isEmpty { console.message("ferry: " + ("the cache of the gateway is empty" as Reason).shown) }
        case .purge: return try await purge(choice)
        case .verify: return show(try await link.ask(.verifyGateway, as: VerifyReport.self))
        }
        return .done
    }

    private func show(_ files: [GatewayEntry], among all: [GatewayEntry]) {
        if json {
            for file in files { say(file) }
            return
        }
        let identifiers = ShortIdentifiers(all.map { CacheText.identifier($0.id) })
        for file in files { say(PrintableText.escape(CacheText.line(file, identifiers))) }
    }

    private func purge(_ choice: GatewayChoice) async throws -> ExitCode {
        let given = [!choice.names.isEmpty, choice.olderThan != nil, choice.all].filter(\.self)
        guard given.count == 1 else {
            throw UsageError("ferry gateway purge needs one of names, --older-than TIME and --all")
        }
        if choice.all, let confirm, !choice.isSure {
            let usage = try await link.ask(.gateway, as: GatewayUsage.self)
            let question: Reason =
                "remove \(usage.files) files with \(ByteText.size(usage.bytes)) from the gateway's cache?"
            guard confirm(question.local) else { return .interrupted }
        }
        let body = PurgeBody(
            words: choice.names.isEmpty ? nil : choice.names, olderThan: choice.olderThan.map { $0 / .seconds(1) },
            all: choice.all ? true : nil)
        let report = try await link.ask(.purgeGateway, json: body, as: PurgeReport.self)
        if json {
            say(report)
        } else {
            let bytes = ByteText.size(report.removed.map(\.bytes).sum)
            let text: Reason = "removed \(report.removed.count) files with \(bytes)"
            say(text.local)
            for file in report.kept {
                console.message("ferry: " + ("\(file.name) stays, as it is in use" as Reason).shown)
            }
        }
        return report.kept.isEmpty ? .done : .conflict
    }

    private func show(_ report: VerifyReport) -> ExitCode {
        if json {
            say(report)
        } else {
            for file in report.damaged { say(PrintableText.escape(("damaged: \(file.name): removed" as Reason).local)) }
            let size = ByteText.size(report.intactBytes)
            let text: Reason =
                "\(report.intact) files are intact (\(size)), \(report.damaged.count) were damaged, \(report.unverified) have no digest"
            say(text.local)
        }
        return report.damaged.isEmpty ? .done : .checksum
    }
}
