public import ArgumentParser
import FerryCore
public import FerryServer

/// The options of `ferry serve` for the gateway.
public struct GatewayServeArguments: ParsableArguments, DoorArguments {
    @Flag(
        help: """
            Serve the gateway on loopback: package indexes, model hubs, registries of containers and archives, whose files \
            become downloads that survive their clients.
            """)
    var gateway = false

    @Option(
        help: ArgumentHelp(
            "The port of the gateway; 0 is any free port (default: \(DoorSetting.standardGatewayPort)).",
            valueName: "n"))
    var gatewayPort: Int?

    @Option(
        help: ArgumentHelp(
            "A server that the gateway fetches from; KIND is pypi, hf, oci or apt (repeatable).", valueName: "kind=url"
        ))
    var gatewayUpstream: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Other users of this machine whose programs may use the gateway, separated by commas, such as _apt for apt-get; \
            all for every user (repeatable).
            """, valueName: "name"))
    var gatewayUsers: [String] = []

    @Option(
        help: ArgumentHelp("How much the gateway's cache keeps (default: 20GB).", valueName: "size"),
        transform: { try SizeText.parse($0) })
    var gatewaySize: ByteCount?

    @Option(
        help: ArgumentHelp("How long it keeps a file after its last use (default: 30d).", valueName: "time"),
        transform: { try DurationText.parse($0) })
    var gatewayAge: Duration?

    @Flag(help: "Log each request to the gateway: user, name, status, bytes, and whether the cache had it.")
    var gatewayLog = false

    public init() {}

    public func set(_ values: inout SettingValues) {
        values.set(.gateway, to: gateway ? true : nil)
        values.set(.gatewayPort, to: gatewayPort)
        values.set(.gatewayUpstreams, to: gatewayUpstream.isEmpty ? nil : gatewayUpstream)
        let users = gatewayUsers.flatMap { $0.split(at: ",") }.map(\.trimmedText)
        values.set(.gatewayUsers, to: gatewayUsers.isEmpty ? nil : users)
        values.set(.gatewaySize, to: gatewaySize.map { Int($0) })
        values.set(.gatewayAge, to: gatewayAge)
        values.set(.gatewayLog, to: gatewayLog ? true : nil)
    }
}
