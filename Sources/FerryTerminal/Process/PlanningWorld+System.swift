import Ferry

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PlanningWorld {
    /// The environment, files and terminal of this machine.
    package static var system: PlanningWorld {
        var world = PlanningWorld(
            environment: ProcessInfo.processInfo.environment, openFileLimit: OpenFileLimit.current,
            readText: LocalFiles.text(of:),
            kind: LocalFiles.kind(of:),
            prepareDirectory: LocalFiles.prepareDirectory(_:), password: PasswordPrompt.ask(user:),
            openList: LocalFiles.openList(_:),
            journalOrigins: { DownloadManager.journalOrigins(at: OwnProgram.absolute($0)) },
            confirm: ConfirmationPrompt.ask(_:))
        world.hasDownloaded = { DownloadManager.hasDownloaded(OwnProgram.absolute($0), from: $1) }
        world.fileSize = LocalFiles.size(of:)
        world.isPlace = { RealPath.isPlace($0, in: $1) }
        world.isSameFile = LocalFiles.isSameFile(_:_:)
        return world
    }
}
