import ArgumentParser
import FerryAria2
import FerryFleet
import FerryServer

/// The doors of this program, each registered in one line. Without them and their targets the rest is built as it is:
/// `Scripts/check-doors`.
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
