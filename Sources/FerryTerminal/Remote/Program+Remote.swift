import Ferry
import FerryAPI
import FerryCore
import Foundation

/// Commands that use the daemon.
extension Program {
    /// Runs a command and returns its exit code.
    ///
    /// - Parameters:
    ///   - command: The command's name, for usage errors.
    ///   - starts: Whether to start the daemon if it is not running.
    ///   - session: The session whose downloads are used, or `all`; `nil` for that of the command line and the page.
    package static func remote(
        _ command: String, json: Bool, starts: Bool = false, session: String? = nil,
        _ body: (RemoteRun) async throws -> ExitCode
    ) async -> ExitCode {
        let console = Console(StandardWriter())
        let code: ExitCode
        do {
            let width = isatty(1) == 1 ? TerminalSize.current(1).columns : nil
            code = try await body(
                RemoteRun(
                    DaemonLink(mayStart: starts), session: session, console: console, json: json, width: width,
                    confirm: isatty(0) == 1 && !json ? ConfirmationPrompt.isConfirmed : nil))
        } catch let error as UsageError {
            code = usage(error, command: command, json: json)
        } catch let error as DownloadError {
            if json { console.result(failure(error)) }
            console.message("ferry: " + ErrorText.line(error, name: ""))
            code = ExitCode.of(error)
        } catch {
            if json { console.result(failure(DownloadError(.internal, "\(error)"))) }
            console.message("ferry: " + PrintableText.escape("\(error)"))
            code = .internal
        }
        await console.drained()
        return code
    }

    /// Returns a failure as a line of JSON.
    static func failure(_ error: DownloadError, id: DownloadID? = nil) -> String {
        JSONLine.failed(error, id: id, date: Date()).text + "\n"
    }
}
