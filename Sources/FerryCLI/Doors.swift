import ArgumentParser
import FerryAria2
import FerryBrowser
import FerryFleet
import FerryGateway
import FerryServer
import FerryTerminal

/// The doors of this program: optional interfaces and commands, each registered in one line of each list. The program compiles
/// without the doors and their targets, which `Scripts/check-doors` verifies.
enum Doors {
    /// The interfaces of the daemon, in the order in which it prints their addresses.
    static let ofDaemon: [DoorKind] = [
        .aria2,
        .gateway,
    ]

    /// Groups of commands.
    static let commands: [CommandGroup] = [
        .aria2,
        .browser,
        .fleet,
        .gateway,
    ]

    /// The Chinese help of the commands and the options below.
    static let help: [ChineseHelp] = [
        .aria2,
        .browser,
        .fleet,
        .gateway,
    ]

    /// The programs that this one replaces.
    static let programs: [EmulatedProgram] = [
        .aria2c
    ]

    /// Translations of the arguments with which other programs start this one.
    static let arguments: [ArgumentTranslation] = [
        .browserHost
    ]

    /// The options of `ferry serve` that set the settings of doors.
    struct Options: ParsableArguments {
        @OptionGroup var aria2: Aria2ServeArguments
        @OptionGroup var gateway: GatewayServeArguments
    }
}
