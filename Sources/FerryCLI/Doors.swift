import ArgumentParser
import FerryAria2
import FerryFleet
import FerryServer

/// The optional parts of this program, its doors, each registered in one line. The rest compiles without them and their
/// targets, which `Scripts/check-doors` verifies.
enum Doors {
    /// The interfaces of the daemon, in the order in which it prints their addresses.
    static let ofDaemon: [DoorKind] = [
        .aria2
    ]

    /// Groups of commands.
    static let commands: [CommandGroup] = [
        .fleet
    ]
}
