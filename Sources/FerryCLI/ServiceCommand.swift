import ArgumentParser
import FerryAPI
import FerryCore
import FerryServer
import FerryTerminal
import Foundation

/// `ferry service`: lets systemd run the daemon.
struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Let systemd run the daemon: install, uninstall, status.",
        discussion: """
            install writes a unit for this user and starts it, now and at each login; uninstall stops it and takes the \
            unit away; status says whether it is installed and runs, and leaves with 0 when it does.
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable { case install, uninstall, status }

    @Argument(help: ArgumentHelp("install, uninstall or status.", valueName: "action"))
    var action: Action

    @Flag(
        help: "With install: a daemon that may write only where its settings and sessions say; see ferry serve --help.")
    var confine = false

    func act() async -> FerryTerminal.ExitCode {
        let installer = ServiceInstaller(
            program: OwnProgram.path, isConfined: confine, environment: ProcessInfo.processInfo.environment)
        do throws(DownloadError) {
            switch action {
            case .install:
                try installer.install(beside: await running())
                say("installed as \(installer.unit), and started")
            case .uninstall: say(try installer.uninstall() ? "stopped and removed" : "it was not installed")
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

    /// The daemon that answers now.
    private func running() async -> ServiceInstaller.Running? {
        let place = DaemonPaths.current()
        let client = DaemonClient(socket: place.socket, session: FerryAPI.defaultSession)
        do throws(DaemonFailure) {
            return ServiceInstaller.Running(process: try await client.greet().pid)
        } catch {
            if case .unreachable = error { return nil }
            // Of another version, it does not say; its lock does.
            return ServiceInstaller.Running(process: DaemonLock.owner(of: place.lock))
        }
    }

    private func say(_ text: String) { _ = StandardStreams.write(Array((text + "\n").utf8), to: 1) }
}
