import ArgumentParser
import Ferry
import FerryAPI
import FerryClient
import FerryCore
import FerryServer
import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `ferry service`: manages the daemon's systemd unit.
struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Manage the daemon's systemd unit.",
        discussion: """
            install writes a user unit, enables it at login and starts it; uninstall stops the daemon and removes the \
            unit; status shows whether the daemon is installed and running, and exits with 0 if it is running.
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable { case install, uninstall, status }

    @Argument(help: ArgumentHelp("install, uninstall or status.", valueName: "action"))
    var action: Action

    @Flag(help: "With install: restrict the daemon's write access; see ferry serve --help.")
    var confine = false

    func act() async -> FerryTerminal.ExitCode {
        let installer = ServiceInstaller(
            program: OwnProgram.path, isConfined: confine, environment: ProcessInfo.processInfo.environment)
        do throws(DownloadError) {
            switch action {
            case .install:
                try installer.install(beside: await running())
                say("installed as \(installer.unit), and started")
            case .uninstall:
                let wasInstalled = try installer.uninstall()
                say(wasInstalled ? ("stopped and removed" as Reason) : ("it was not installed" as Reason))
            case .status:
                guard installer.isInstalled else {
                    say("not installed")
                    return .internal
                }
                let status = try installer.status()
                say("installed, \(status)")
                return status == "active" ? .done : .internal
            }
            return .done
        } catch {
            let text = "ferry: " + ErrorText.line(error, name: "") + "\n"
            _ = StandardStreams.write(Array(text.utf8), to: 2)
            return FerryTerminal.ExitCode.of(error)
        }
    }

    /// Returns the running daemon; `nil` if none is running.
    private func running() async -> ServiceInstaller.Running? {
        do throws(DaemonFailure) {
            return ServiceInstaller.Running(process: try await DaemonLink().greet().pid)
        } catch {
            if case .unreachable = error { return nil }
            // A daemon of another version does not report its process identifier, but its lock file contains it.
            return ServiceInstaller.Running(process: DaemonLock.owner(of: DaemonPaths.current().lock))
        }
    }

    private func say(_ text: Reason) { _ = StandardStreams.write(Array((text.local + "\n").utf8), to: 1) }
}
