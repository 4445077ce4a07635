package import ArgumentParser
package import FerryTerminal

// FerryBrowser: the native messaging host, through which the extension of a browser passes downloads to the daemon.
//
//     browser ─► ArgumentTranslation ─► ferry browser-host ─► NativeMessage ─► BrowserHost ─► DaemonLink
//     ferry browser install ─► BrowserInstaller ─► HostManifest, in the directory of each HostBrowser
//
// Stores nothing besides the manifests. A crash of the host leaves at most a paused download in the daemon's list.

extension CommandGroup {
    /// The commands of the host, in the group of the commands for background downloads.
    package static var browser: CommandGroup {
        CommandGroup(name: "Background downloads", subcommands: [BrowserCommand.self, BrowserHostCommand.self])
    }
}

extension ArgumentTranslation {
    /// The translation of the arguments with which a browser starts the host.
    package static let browserHost = ArgumentTranslation { HostManifest.command($0) }
}
