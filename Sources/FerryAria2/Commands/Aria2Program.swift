import ArgumentParser
import Ferry
import FerryCore
import FerryTerminal
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The entry point of `aria2c`. Called on file threads.
enum Aria2Program {
    static let name = "aria2c"

    /// Runs the command. Returns aria2's exit status.
    static func run(_ words: [String]) async -> Int32 {
        let console = Console(StandardWriter())
        let status: Aria2ExitStatus
        do throws(Aria2Failure) { status = try await run(words, console) } catch {
            console.message("\(name): \(PrintableText.escape(error.message))")
            if error.status == .option { console.message("See '\(name) -h'.") }
            status = error.status
        }
        await console.drained()
        return status.rawValue
    }

    private static func run(_ words: [String], _ console: Console) async throws(Aria2Failure) -> Aria2ExitStatus {
        let arguments = try Aria2Arguments(words)
        if arguments.values["version"] != nil {
            console.result("aria2 version \(Aria2RPC.version)\n** spoken by ferry \(Program.version) **\n")
            return .done
        }
        if arguments.values["help"] != nil {
            console.result(help)
            return .done
        }
        let world = PlanningWorld.system
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) {
            throw Aria2Failure(.unknown, shortage.description)
        }
        guard let standard = try? GetOptions.parse([]) else { throw Aria2Failure(.unknown, "no options") }
        let job = try Aria2Planner.plan(arguments, standard: standard, world: world) {
            let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        switch job {
        case .downloads(let run): return await download(run, console)
        case .service(let service):
            if !service.isQuiet { warn(service.warnings, console) }
            let failure = Mutex<DownloadError?>(nil)
            await service.life.run { signals in
                do throws(DownloadError) { try await service.run(until: signals) } catch {
                    failure.withLock { $0 = error }
                }
            }
            if let error = failure.withLock({ $0 }) {
                throw Aria2Failure(.unknown, error.message(in: .english))
            }
            return .done
        }
    }

    private static func warn(_ warnings: [String], _ console: Console) {
        for warning in warnings { console.message("\(name): \(PrintableText.escape(warning))") }
    }

    private static func download(_ run: Aria2Planner.Run, _ console: Console) async -> Aria2ExitStatus {
        let reporter = Aria2Reporter(
            run.plan.items.compactMap(\.request), run.output, run.hooks, console: console, isTerminal: isatty(1) == 1)
        if !run.output.isQuiet { warn(run.warnings, console) }
        reporter.begin()
        let get = GetRun(run.plan, manager: DownloadManager(run.plan.configuration), reporter: reporter)
        await run.life.run { signals in
            _ = await get.run(signals: signals) { _ in
                SignalWatch.leave(Aria2ExitStatus.unfinished.rawValue, after: 1.8)
            }
        }
        return reporter.finish()
    }

    private static let help = """
        Usage: aria2c [OPTIONS] [URI | METALINK_FILE]...
        ferry, with the arguments, output and exit status of aria2c 1.36 for HTTP and
        HTTPS.
        Several URIs are mirrors of one file; with -Z each is a file of its own.

         -d, --dir=DIR                          -o, --out=FILE
         -i, --input-file=FILE                  -M, --metalink-file=FILE
         -x, --max-connection-per-server=NUM    -s, --split=N
         -j, --max-concurrent-downloads=N       -c, --continue[=true|false]
         -Z, --force-sequential[=true|false]    -P, --parameterized-uri[=true|false]
         --header=HEADER  --referer=URI  -U, --user-agent=TEXT  --load-cookies=FILE
         --http-user=USER  --http-passwd=PASSWORD  --all-proxy=PROXY  --no-proxy=DOMAINS
         --check-certificate[=true|false]  --ca-certificate=FILE  --checksum=TYPE=DIGEST
         --max-overall-download-limit=SPEED  --max-download-limit=SPEED
         -t, --timeout=SEC  --connect-timeout=SEC  -m, --max-tries=N
         --allow-overwrite[=true|false]         --auto-file-renaming[=true|false]
         -R, --remote-time[=true|false]         --show-console-readout[=true|false]
         -q, --quiet[=true|false]  --stderr[=true|false]  --console-log-level=LEVEL
         --summary-interval=SEC  --download-result=default|full|hide
         --on-download-start=PROGRAM            --on-download-complete=PROGRAM
         --on-download-error=PROGRAM
         --stop=SEC  --stop-with-process=PID
         --enable-rpc[=true|false]  --rpc-listen-port=PORT  --rpc-secret=TOKEN

        Every option of aria2 is in docs/aria2c.md, with what becomes of it.

        """
}
