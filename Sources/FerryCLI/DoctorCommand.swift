import ArgumentParser
import FerryServer
import FerryTerminal

/// `ferry doctor`: checks this machine.
struct DoctorCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check limits, disk, permissions, the daemon, proxies and certificates.",
        discussion: """
            Changes nothing. Exits with 0 if there is no problem, otherwise 1.
            """)

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        return await Program.doctor(state: place.state, downloads: place.downloads, json: flags.json)
    }
}
