public import ArgumentParser
import Ferry
import FerryCore
public import FerryServer

/// The options of `ferry serve` for aria2's interface.
public struct Aria2ServeArguments: ParsableArguments, DoorArguments {
    @Option(
        help: ArgumentHelp(
            """
            Serve aria2's RPC interface on this port of 127.0.0.1 and ::1, for programs that use aria2; 0 is any port that is \
            free, 6800 is usual.
            """, valueName: "n"))
    var aria2Rpc: Int?

    @Option(
        help: ArgumentHelp(
            """
            The token of that interface, or @FILE for the private file that has it (default: a generated one, kept as \
            aria2-secret beside the state).
            """, valueName: "token"))
    var aria2Secret: String?

    @Option(
        help: ArgumentHelp(
            "An origin whose pages may use that interface, for example http://127.0.0.1:8080 (repeatable).",
            valueName: "origin"))
    var aria2AllowOrigin: [String] = []

    public init() {}

    public func set(_ values: inout SettingValues) {
        values.set(.aria2Rpc, to: aria2Rpc)
        values.set(
            .aria2Secret,
            to: aria2Secret.map { secret in
                secret.dropping(prefix: "@").map { "@" + DownloadManager.absolute(String($0)) } ?? secret
            })
        values.set(.aria2AllowedOrigins, to: aria2AllowOrigin.isEmpty ? nil : aria2AllowOrigin)
    }
}
