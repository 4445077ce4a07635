import Ferry
import FerryCore
import FerryMetrics
import FerryServer
package import FerryTerminal

/// The entry points of `ferry fleet`, after argument parsing. They run on threads that may block.
package enum FleetProgram {
    /// Runs `body` with the database, and returns the exit code.
    private static func run(
        _ address: FleetAddress, _ command: String, needsSchema: Bool = true, json: Bool = false,
        _ body: (FleetStore, Console) async throws -> ExitCode
    ) async -> ExitCode {
        let console = Console(StandardWriter())
        do {
            let link = try PostgresLink(to: DatabaseAddress(address.database), as: "ferry fleet \(command)")
            defer { link.close() }
            let store = FleetStore(link)
            if needsSchema { try await store.checkSchema() }
            return await console.finished(try await body(store, console))
        } catch let error as UsageError {
            return await console.finished(Program.usage(error, command: "fleet \(command)", json: json))
        } catch let error as DatabaseError {
            WorkerReport(console: console).failed(error)
            return await console.finished(error.exitCode)
        } catch {
            console.message("ferry: " + PrintableText.escape("\(error)"))
            return await console.finished(.internal)
        }
    }

    /// `ferry fleet init`.
    package static func initialize(_ arguments: FleetInitArguments) async -> ExitCode {
        await run(arguments.address, "init", needsSchema: false) { store, console in
            let ran = try await store.migrate()
            let report = WorkerReport(console: console)
            if ran.isEmpty {
                report.message("the fleet's tables already exist")
            } else {
                report.message("the fleet's tables are made: \(ran.joined(separator: ", "))")
            }
            return .done
        }
    }

    /// `ferry fleet add`.
    package static func add(_ arguments: FleetAddArguments) async -> ExitCode {
        await run(arguments.address, "add") { store, console in
            let report = WorkerReport(console: console)
            let addition = try FleetPlanner.addition(arguments)
            let list = try Self.list(arguments.list)
            let writing = try await store.begin(
                addition.name, directory: addition.directory, partRows: addition.partRows, priority: addition.priority)
            do {
                var problems = 0
                var copy = ListCopy(list, batch: writing.batch, partRows: addition.partRows) { problem in
                    problems += 1
                    console.message("ferry: \(PrintableText.escape(list.name)): \(problem.whole.shown)")
                }
                var part: Int64?
                while let piece = try copy.next() {
                    // The list is refused, but read to its end, so that every problem is reported.
                    if problems > 0 { continue }
                    if let part, part != piece.part { try await store.closePart(part, of: writing) }
                    part = piece.part
                    try await store.write(
                        piece.bytes, of: writing, part: piece.part, partRows: addition.partRows, isNew: piece.isFirst)
                }
                guard problems == 0 else {
                    throw UsageError(
                        "\(list.name): nothing was added: correct or remove the lines that cannot be used")
                }
                guard let part else { throw UsageError("\(list.name): there is no URL in the list") }
                try await store.closePart(part, of: writing)
                try await store.open(writing, total: copy.total, partRows: addition.partRows)
                report.message("\(addition.name): \(Int(copy.total)) rows added")
                return .done
            } catch {
                // Otherwise only the same command could start the batch again.
                try? await store.abandon(writing)
                throw error
            }
        }
    }

    private static func list(_ path: String) throws(UsageError) -> ListFile {
        try PlanningWorld.naming("list", path) { () throws(UsageError) in try PlanningWorld.system.openList(path) }
    }

    /// `ferry fleet status`.
    package static func status(_ arguments: FleetStatusArguments) async -> ExitCode {
        await run(arguments.address, "status", json: arguments.json) { store, console in
            let batches = try await store.status(arguments.batch.batch)
            if arguments.json {
                for batch in batches { console.result(JSONLine.of(batch).text + "\n") }
                return .done
            }
            for line in FleetText.table(batches) { console.result(PrintableText.escape(line) + "\n") }
            for line in FleetText.failures(batches) { console.result(PrintableText.escape(line) + "\n") }
            return .done
        }
    }

    /// `ferry fleet workers`.
    package static func workers(_ arguments: FleetWorkersArguments) async -> ExitCode {
        await run(arguments.address, "workers", json: arguments.json) { store, console in
            let workers = try await store.workers()
            if arguments.json {
                for worker in workers { console.result(JSONLine.of(worker).text + "\n") }
                return .done
            }
            for line in FleetText.table(workers) { console.result(PrintableText.escape(line) + "\n") }
            return .done
        }
    }

    /// `ferry fleet results`.
    package static func results(_ arguments: FleetResultsArguments) async -> ExitCode {
        await run(arguments.address, "results") { store, console in
            for batch in try await store.identifiers(arguments.batch.batch) {
                var page = try await store.results(batch, after: 0, failedOnly: arguments.failed)
                while !page.lines.isEmpty {
                    for line in page.lines { console.result(PrintableText.escapeJSON(line) + "\n") }
                    // Waits for a slow reader, so that memory does not grow with the results.
                    await console.drained()
                    page = try await store.results(batch, after: page.last, failedOnly: arguments.failed)
                }
            }
            return .done
        }
    }

    /// `ferry fleet retry`.
    package static func retry(_ arguments: FleetRetryArguments) async -> ExitCode {
        await run(arguments.address, "retry") { store, console in
            let reasons = try FleetPlanner.reasons(arguments.only)
            let report = WorkerReport(console: console)
            var (count, left): (Int64, Int64) = (0, 0)
            for batch in try await store.identifiers(arguments.batch.batch) {
                let found = try await store.retry(batch, reasons: reasons)
                (count, left) = (count + found.requested, left + found.left)
            }
            report.message("\(Int(count)) files are requested again")
            if left > 0 {
                report.message(
                    "\(Int(left)) more have failed in ranges that have not ended: run the command again later")
            }
            return .done
        }
    }

    /// `ferry fleet pause`.
    package static func pause(_ arguments: FleetStateArguments) async -> ExitCode {
        await move(arguments, "pause", from: [.open, .draining], to: .paused)
    }

    /// `ferry fleet resume`.
    package static func resume(_ arguments: FleetStateArguments) async -> ExitCode {
        await move(arguments, "resume", from: [.paused, .draining], to: .open)
    }

    /// `ferry fleet drain`.
    package static func drain(_ arguments: FleetStateArguments) async -> ExitCode {
        await move(arguments, "drain", from: [.open, .paused], to: .draining)
    }

    private static func move(
        _ arguments: FleetStateArguments, _ command: String, from states: [FleetBatch.State], to state: FleetBatch.State
    ) async -> ExitCode {
        await run(arguments.address, command) { store, _ in
            _ = try await store.move(arguments.batch.batch, from: states, to: state)
            return .done
        }
    }

    /// `ferry fleet remove`.
    package static func remove(_ arguments: FleetRemoveArguments) async -> ExitCode {
        await run(arguments.address, "remove") { store, console in
            switch try FleetPlanner.removal(arguments) {
            case .named(let name):
                for batch in try await store.identifiers(name) { try await store.remove(batch) }
            case .done(let age):
                let batches = try await store.identifiers(doneFor: age)
                for batch in batches { try await store.remove(batch) }
                WorkerReport(console: console).message("\(batches.count) batches are removed")
            }
            return .done
        }
    }

    /// `ferry fleet priority`.
    package static func prioritize(_ arguments: FleetPriorityArguments) async -> ExitCode {
        await run(arguments.address, "priority") { store, _ in
            try await store.set(priority: try FleetPlanner.priority(arguments.priority), of: arguments.batch)
            return .done
        }
    }

    /// `ferry fleet host`.
    package static func host(_ arguments: FleetHostArguments) async -> ExitCode {
        await run(arguments.address, "host") { store, _ in
            let host = try FleetPlanner.host(arguments.host)
            let rate = try arguments.rate.map(FleetPlanner.rate)
            guard arguments.connections.map({ 1...1_000_000 ~= $0 }) ?? true else {
                throw UsageError("--connections needs a number of 1 or more")
            }
            guard arguments.unlimited == (rate == nil && arguments.connections == nil) else {
                throw UsageError("a budget needs --rate, --connections or both; --unlimited removes it")
            }
            try await store.setBudget(of: host, rate: rate, connections: arguments.connections)
            return .done
        }
    }

    /// `ferry work`. `standard` contains the options of `ferry get` with their default values.
    package static func work(_ arguments: WorkArguments, standard: GetOptions) async -> ExitCode {
        let console = Console(StandardWriter())
        let report = WorkerReport(console: console)
        let world = PlanningWorld.system
        do {
            let address = try DatabaseAddress(arguments.address.database)
            let directory = arguments.state ?? WorkerIdentity.standard(for: address, environment: world.environment)
            let plan = try FleetPlanner.work(
                arguments, state: OwnProgram.absolute(directory), standard: standard, world: world)
            let port = try FleetPlanner.metricsPort(arguments)
            let identity = try WorkerIdentity(directory)
            let registry = port.map { _ in MetricRegistry(Metric.ofDownloads + Metric.ofStatements) }
            let meter = registry.map { FleetMeter($0) } ?? FleetMeter()
            let (wake, beat) = (AsyncEvent(), AsyncEvent())
            let link = try PostgresLink(
                to: address, as: "ferry work \(plan.name)", listeningTo: FleetSchema.channel, meter: meter
            ) {
                wake.notify()
                // A batch may have been paused.
                beat.notify()
            }
            defer { link.close() }
            let pulse = try PostgresLink(to: address, as: "ferry work \(plan.name)", meter: meter)
            defer { pulse.close() }
            var configuration = plan.configuration
            configuration.server.metrics = registry
            let manager = DownloadManager(configuration)
            let worker = FleetWorker(
                plan, store: FleetStore(link), pulse: FleetStore(pulse), manager: manager, report: report,
                changed: wake, beatWanted: beat)
            let watch = SignalWatch()
            let run = { () async throws -> ExitCode in
                try await worker.run(key: identity.key, signals: watch?.signals ?? AsyncStream { _ in }) { code in
                    SignalWatch.leave(code.rawValue, after: 3)
                }
            }
            let code: ExitCode
            if let registry, let port {
                let metrics = WorkerMetrics(registry, manager: manager) { await worker.reading(meter) }
                let server = try MetricsServer(
                    metrics, port: port, tokenFile: Paths.join(identity.directory, "metrics-token"),
                    option: "--metrics-port")
                code = try await server.serving { address in
                    report.message("the metrics are served at \(address)")
                    return try await run()
                }
            } else {
                code = try await run()
            }
            withExtendedLifetime(identity) {}
            report.message(await worker.summary)
            return await console.finished(code)
        } catch let error as UsageError {
            return await console.finished(Program.usage(error, command: "work", json: false))
        } catch let error as DatabaseError {
            report.failed(error)
            return await console.finished(error.exitCode)
        } catch let error as DownloadError {
            console.message("ferry: " + ErrorText.line(WorkerAdvice.advised(error), name: ""))
            return await console.finished(ExitCode.of(error))
        } catch {
            console.message("ferry: " + PrintableText.escape("\(error)"))
            return await console.finished(.internal)
        }
    }
}
