import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// `ferry sync`, `ferry verify`, `ferry repair`.
extension Program {
    /// Runs `ferry sync`.
    ///
    /// - Parameter standard: The options of `ferry get` with their defaults.
    package static func sync(_ arguments: SyncArguments, standard: GetOptions) async -> ExitCode {
        let world = PlanningWorld.system
        let json = arguments.show.json
        let planner = SyncPlanner(
            standard, arguments.request, arguments.trust, arguments.run, arguments.show, world: world)
        let (source, destination, options, plan): (SetSource, SyncDestination, SyncOptions, GetPlan)
        do throws(UsageError) {
            destination = try planner.destination(arguments)
            (source, options) = try planner.source(arguments)
            plan = try planner.plan()
        } catch { return usage(error, command: "sync", json: json) }
        let console = Console(StandardWriter())
        let manager = DownloadManager(plan.configuration)
        do throws(DownloadError) {
            if arguments.dryRun {
                let preview = try await manager.previewSync(source, into: destination, options: options)
                await manager.shutdown()
                show(preview, console, arguments.show)
                var code: ExitCode = preview.problems.isEmpty ? .done : .usage
                if case .directory(let path) = destination, preview.writes {
                    do throws(DownloadError) { try await ConfinedDirectory.checkWritable(path) } catch {
                        code = ExitCode.combine([code, fail(error, console, json: json)])
                    }
                }
                return await console.finished(code)
            }
            let isQuiet = arguments.show.quiet || json
            let sync = try await SetSync(
                of: source, into: destination, options: options, manager: manager
            ) { retry in
                let event = retry.event
                guard !isQuiet, !retry.isDue,
                    let line = EventText.line(
                        event.kind, reason: event.reason?.local, name: retry.url.redacted, detail: .verbose)
                else { return }
                console.message(line)
            }
            let code = try await run(sync.requests, planner, manager, console, world, sync: sync)
            let report = try await sync.finish()
            show(report, of: sync, console, arguments)
            if code != .done { return await console.finished(code) }
            let rest: ExitCode = report.problems.isEmpty ? .done : .usage
            let isUnwritable = report.incomplete.contains { $0.error?.code == .disk }
            return await console.finished(report.incomplete.isEmpty ? rest : isUnwritable ? .disk : .conflict)
        } catch {
            await manager.shutdown()
            // An error in the list is reported with the name of its source.
            let source = (try? DownloadURL(arguments.source))?.redacted ?? arguments.source
            let name = error.phrase?.key == .notAList ? source : ""
            return await console.finished(fail(error, console, name: name, json: json))
        }
    }

    /// Runs requests as `ferry get` does.
    private static func run(
        _ requests: [DownloadRequest], _ planner: SyncPlanner, _ manager: DownloadManager, _ console: Console,
        _ world: PlanningWorld, sync: SetSync? = nil
    ) async throws(DownloadError) -> ExitCode {
        guard !requests.isEmpty || sync?.uploads.isEmpty == false else {
            await manager.shutdown()
            return .done
        }
        var plan: GetPlan
        do throws(UsageError) { plan = try planner.plan(requests) } catch {
            throw DownloadError(error.code, error.reason, recovery: .needsUser)
        }
        plan.isOfRepair = sync == nil
        let watch = SignalWatch()
        let signals = watch?.signals ?? AsyncStream { _ in }
        let leave = { @Sendable (code: ExitCode) in SignalWatch.leave(code.rawValue, after: 1.8) }
        let reporter = reporter(plan, console, world)
        if let sync, !sync.uploads.isEmpty {
            let code = await UploadRun(sync, plan, reporter: reporter).run(signals: signals, willLeave: leave)
            await manager.shutdown()
            return code
        }
        let run = GetRun(plan, manager: manager, reporter: reporter, sync: sync)
        return await run.run(signals: signals, willLeave: leave)
    }

    private static func fail(
        _ error: DownloadError, _ console: Console, name: String = "", json: Bool
    ) -> ExitCode {
        if json { console.result(failure(error)) }
        console.message("ferry: " + ErrorText.line(SetAdvice.advised(error), name: name))
        return ExitCode.of(error)
    }

    private static func show(_ preview: SyncPreview, _ console: Console, _ flags: OutputFlags) {
        for file in preview.files {
            if flags.json {
                console.result(JSONLine.previewed(file, date: Date()).text + "\n")
            } else if file.action != .keep || flags.verbose {
                console.result(
                    PrintableText.escape(PreviewText.line(file, isOfDirectory: preview.isOfDirectory)) + "\n")
            }
        }
        if flags.json { return console.result(JSONLine.preview(preview, date: Date()).text + "\n") }
        for problem in preview.problems { console.message("ferry: " + PrintableText.escape(problem)) }
        for line in SyncText.lines(skipped: preview.skipped, isVerbose: flags.verbose) {
            console.message("ferry: " + line)
        }
        for line in SyncText.lines(unused: preview.unusedPatterns) { console.message("ferry: " + line) }
        if !flags.quiet { console.message("ferry: " + PreviewText.summary(preview)) }
    }

    private static func show(_ report: SyncReport, of sync: SetSync, _ console: Console, _ arguments: SyncArguments) {
        let flags = arguments.show
        if flags.json { return console.result(JSONLine.synced(report, date: Date()).text + "\n") }
        for line in SyncText.lines(incomplete: report, isVerbose: flags.verbose) { console.message("ferry: " + line) }
        for problem in report.problems { console.message("ferry: " + PrintableText.escape(problem)) }
        for line in SyncText.lines(skipped: report.skipped, isVerbose: flags.verbose) {
            console.message("ferry: " + line)
        }
        for line in SyncText.lines(unused: report.unusedPatterns) { console.message("ferry: " + line) }
        guard !flags.quiet else { return }
        let lines = SyncText.lines(
            report, keptIn: sync.backupDirectory, isOfDirectory: sync.isOfDirectory, deletes: arguments.delete,
            isVerbose: flags.verbose)
        for line in lines {
            console.message("ferry: " + line)
        }
    }

    // MARK: Verification

    /// Runs `ferry verify`.
    package static func verify(_ arguments: VerifyArguments) async -> ExitCode {
        if let path = arguments.paths.first(where: UploadTarget.isObject) {
            let error = UsageError(
                "\(path): ferry verify reads files of this machine; ferry sync SOURCE s3://… --dry-run compares objects with their manifest"
            )
            return usage(error, command: "verify", json: arguments.json)
        }
        let console = Console(StandardWriter())
        let sum = VerifySum()
        var codes: [ExitCode] = []
        for path in arguments.paths {
            do throws(DownloadError) {
                try await DownloadManager.verify(path) { file in
                    sum.add(file)
                    if arguments.json {
                        console.result(JSONLine.verified(file, date: Date()).text + "\n")
                    } else if !file.isIntact || arguments.verbose {
                        console.result(PrintableText.escape(VerifyText.line(file)) + "\n")
                    }
                }
                for user in sum.takeUsers() where !arguments.json {
                    let text: Reason = "the digests of \(path) were recorded by user \("\(user)")"
                    console.message("ferry: " + text.shown)
                }
            } catch { codes.append(fail(error, console, json: arguments.json)) }
        }
        if !arguments.json { console.message("ferry: " + sum.text) }
        return await console.finished(ExitCode.combine(codes + sum.codes))
    }

    /// Runs `ferry repair`.
    ///
    /// - Parameter standard: The options of `ferry get` with their defaults.
    package static func repair(_ arguments: RepairArguments, standard: GetOptions) async -> ExitCode {
        let world = PlanningWorld.system
        let json = arguments.show.json
        let planner = SyncPlanner(
            standard, arguments.request, arguments.trust, arguments.run, arguments.show, world: world)
        var (template, plan): (DownloadRequest, GetPlan)
        do throws(UsageError) {
            if let path = arguments.paths.first(where: UploadTarget.isObject) {
                throw UsageError("\(path): ferry repair repairs files of this machine; ferry sync replaces objects")
            }
            let url = try arguments.url.map { text throws(UsageError) in try SyncPlanner.url(text) }
            template = try planner.template(for: url)
            plan = try planner.plan()
            if let url {
                guard arguments.paths.count == 1, world.kind(arguments.paths[0]) != .directory else {
                    throw UsageError("--url is for one file")
                }
                template.sources = [url]
            } else if template.hasSecrets || template.credentials != nil, template.secretsOrigin == nil {
                throw UsageError(
                    "--user and --header are sent to one server alone: write --user NAME@HOST, or give --url")
            }
        } catch { return usage(error, command: "repair", json: json) }
        let console = Console(StandardWriter())
        let found = VerifySum()
        var codes: [ExitCode] = []
        var requests: [DownloadRequest] = []
        for path in arguments.paths {
            let isDirectory = world.kind(path) == .directory
            do throws(DownloadError) {
                try await DownloadManager.verify(path) { found.add($0) }
                for file in found.takeOthers() {
                    if !json, !arguments.show.quiet {
                        console.message("ferry: " + PrintableText.escape(VerifyText.line(file)))
                    }
                    if isDirectory, case .changed = file.state, !arguments.changed {
                        let text: Reason =
                            "\(file.path) was written here after it was downloaded: give --changed to replace it"
                        console.message("ferry: " + text.shown)
                        codes.append(.conflict)
                        continue
                    }
                    do throws(DownloadError) {
                        requests.append(try await DownloadManager.repair(file, with: template))
                        if !json, !arguments.show.quiet, let record = file.recordedIn {
                            let text: Reason = "\(file.path) is compared with your record in \(record)"
                            console.message("ferry: " + text.shown)
                        }
                    } catch { codes.append(fail(error, console, json: json)) }
                }
            } catch { codes.append(fail(error, console, json: json)) }
        }
        do throws(DownloadError) {
            codes.append(try await run(requests, planner, DownloadManager(plan.configuration), console, world))
        } catch { codes.append(fail(error, console, json: json)) }
        if requests.isEmpty, codes.allSatisfy({ $0 == .done }), !json, !arguments.show.quiet {
            console.message("ferry: " + ("nothing is damaged" as Reason).shown)
        }
        return await console.finished(ExitCode.combine(codes))
    }
}
