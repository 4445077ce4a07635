import ArgumentParser
import FerryServer
import FerryTerminal

/// `ferry doctor`: look at this machine.
struct DoctorCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check limits, disk, permissions, the daemon, proxies and certificates.",
        discussion: """
            Changes nothing. It leaves with 0 when there is no problem, else with 1.
            """)

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        return await Program.doctor(state: place.state, downloads: place.downloads, json: flags.json)
    }
}
