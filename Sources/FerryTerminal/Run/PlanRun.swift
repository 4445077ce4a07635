package import Ferry

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Runs `ferry plan`: queries the server and prints the result, without writing any file.
package struct PlanRun: Sendable {
    let plan: GetPlan
    let manager: DownloadManager
    let reporter: Reporter
    let console: Console

    package init(_ plan: GetPlan, manager: DownloadManager, reporter: Reporter, console: Console) {
        self.plan = plan
        self.manager = manager
        self.reporter = reporter
        self.console = console
    }

    package func run() async -> ExitCode {
        var codes: [ExitCode] = []
        var (isFirst, isEmpty) = (true, true)
        for item in plan.items {
            isEmpty = false
            if case .unusable(let line) = item {
                reporter.error(line)
                codes.append(.usage)
            }
            guard case .request(let request) = item else { continue }
            do {
                let answer = try await manager.plan(request)
                if plan.output.result == .json {
                    console.result(PlanRecord.line(answer, date: Date()).text + "\n")
                } else {
                    let gap = isFirst ? "" : "\n"
                    console.result(gap + PlanRecord.text(answer).joined(separator: "\n") + "\n")
                    isFirst = false
                }
            } catch {
                let (url, part) = Entry.origin(of: request)
                codes.append(ExitCode.of(error))
                reporter.failed(error, id: nil, name: url ?? part ?? "", command: nil, date: Date())
            }
        }
        if isEmpty { reporter.error(PlannedItems.empty.shown) }
        await manager.shutdown()
        return ExitCode.combine(codes)
    }
}
