import ArgumentParser
import FerryTerminal

/// `ferry pause`: pauses downloads.
struct PauseCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause downloads and keep their data.")

    @OptionGroup var named: NamedDownloads
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: named.session.session) {
            try await $0.act(.pause, on: named.downloads)
        }
    }
}

/// `ferry resume`: resumes downloads.
struct ResumeCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume paused downloads and retry failed ones.")

    @OptionGroup var named: NamedDownloads
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, starts: true, session: named.session.session) {
            try await $0.act(.resume, on: named.downloads)
        }
    }
}

/// `ferry restart`: downloads files again.
struct RestartCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart", abstract: "Download completed or cancelled files again, from the beginning.",
        discussion: "The earlier file stays until the new one is complete, which then replaces it.")

    @OptionGroup var named: NamedDownloads
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: named.session.session) {
            try await $0.act(.restart, on: named.downloads)
        }
    }
}

/// `ferry cancel`: cancels downloads.
struct CancelCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads and delete their partial data.",
        usage: """
            ferry cancel DOWNLOAD... [--session SESSION|all] [--keep] [--yes]
                         [--json]
            """)

    @OptionGroup var named: NamedDownloads
    @OptionGroup var deletion: DeletionFlags
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: named.session.session) {
            deletion.keep
                ? try await $0.keep(named.downloads)
                : try await $0.cancel(named.downloads, isSure: deletion.yes)
        }
    }
}

/// `ferry move`: changes a download's position in the list.
struct MoveCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a download in the queue, among downloads of the same priority.")

    @Argument(
        help: ArgumentHelp("An identifier, a unique prefix, or a name.", valueName: "download"), completion: .downloads)
    var download: String

    @Argument(
        help: ArgumentHelp(
            "New position: first, last, before DOWNLOAD, after DOWNLOAD, or a number from 1.", valueName: "position"),
        completion: .list(["first", "last", "before", "after"]))
    var place: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.move(download, to: place)
        }
    }
}

/// `ferry relocate`: moves a download's files to another directory.
struct RelocateCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "relocate", abstract: "Move a download's files to another directory, even on another disk.")

    @Argument(
        help: ArgumentHelp("An identifier, a unique prefix, or a name.", valueName: "download"), completion: .downloads)
    var download: String

    @Argument(help: ArgumentHelp("The target directory.", valueName: "dir"), completion: .directory)
    var directory: String

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) {
            try await $0.relocate(download, to: directory)
        }
    }
}
