package import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Runs `ferry plan`: queries the server and prints the result, without writing any file. For a bucket, and for an `s3` URL
/// that ends with a slash, it prints the objects below the URL.
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
                if let prefix = request.sources.first, Self.isPrefix(prefix) {
                    codes += try await list(prefix, request)
                    continue
                }
                let answer = try await manager.plan(request)
                if plan.output.result == .json {
                    console.result(PlanRecord.line(answer, date: Date()).text + "\n")
                } else {
                    let gap = isFirst ? "" : "\n"
                    console.result(gap + PlanRecord.text(answer, request.onConflict).joined(separator: "\n") + "\n")
                    isFirst = false
                }
            } catch {
                let (url, part) = Entry.origin(of: request)
                codes.append(ExitCode.of(error))
                let command = part.flatMap { ErrorText.command(after: error, part: $0, url: url) }
                reporter.failed(error, id: nil, name: url ?? part ?? "", command: command, date: Date())
            }
        }
        if isEmpty { reporter.error(PlannedItems.empty.shown) }
        await manager.shutdown()
        return ExitCode.combine(codes)
    }

    // MARK: Objects

    /// Whether an `s3` URL is that of a bucket, or ends with a slash.
    private static func isPrefix(_ url: DownloadURL) -> Bool {
        url.isObject && url.query == nil && (url.objectKey.last ?? UInt8(ascii: "/")) == UInt8(ascii: "/")
    }

    /// Prints the objects below a prefix. Returns an exit code if some of them could not be listed.
    private func list(_ prefix: DownloadURL, _ request: DownloadRequest) async throws(DownloadError) -> [ExitCode] {
        let listing = try await manager.objects(below: prefix, as: request)
        for object in listing.objects {
            let line =
                plan.output.result == .json
                ? JSONLine.object(object, date: Date()).text : PlanRecord.text(object)
            console.result(line + "\n")
        }
        for problem in listing.problems { reporter.error(PrintableText.escape(problem)) }
        return listing.problems.isEmpty ? [] : [.usage]
    }
}
