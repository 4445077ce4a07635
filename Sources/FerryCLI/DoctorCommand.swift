import ArgumentParser
import Ferry
import FerryServer
import FerryTerminal

/// `ferry doctor`: checks this machine.
struct DoctorCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check limits, disk, permissions, the daemon, proxies and certificates.",
        discussion: """
            Changes nothing. Exits with 0 if there is no problem, otherwise 1.
            """)

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        let place = DaemonPaths.current()
        var (downloads, error) = (place.downloads, DownloadError?.none)
        do throws(DownloadError) { downloads = try place.currentSettings(doors: Doors.ofDaemon).directory } catch let
            failure
        {
            error = failure
        }
        return await Program.doctor(
            state: place.state, list: place.catalogue, downloads: downloads,
            settings: DoctorPolicy.settings(
                place.settings, error, unknown: place.unknownSettings(doors: Doors.ofDaemon)),
            json: flags.json)
    }
}
