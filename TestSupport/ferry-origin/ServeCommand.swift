import ArgumentParser
import FerryTesting

/// `ferry-origin [serve]`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve until SIGTERM or SIGINT; the first line of output is the base URL.",
        discussion: OriginProgram.help)

    @Option(help: "Port; 0: a free one.") var port = 0
    @Option(help: "Address to listen on; may be repeated.") var address: [String] = []
    @Flag(help: "TLS.") var tls = false
    @Option(help: "Certificate: good, wrongHost, expired, selfSigned, early.") var certificate = "good"
    @Option(help: "Bytes a second for all connections together (8M, 1MiB).") var rate: String?
    @Option(help: "Bytes a second for each connection.") var connectionRate: String?
    @Option(help: "Serve so many connections at once.") var maxConnections: Int?
    @Option(help: "What others get: wait, hang, close, reset, refuse, json, empty, unsatisfied, 503[,RETRY].")
    var excess = "503"
    @Flag(help: "One connection at a time, closed after each answer; others wait.") var single = false
    @Option(help: "Milliseconds before each answer.") var latency: Int?
    @Flag(help: "Stop when standard input is closed.") var parentWatch = false

    func run() async throws {
        do {
            let options = try OriginProgram.Options(
                port: port, addresses: address, certificate: tls ? certificate : nil, rate: rate,
                connectionRate: connectionRate, maxConnections: maxConnections, excess: excess, isSingle: single,
                latencyMilliseconds: latency, watchesInput: parentWatch)
            try await OriginProgram.serve(options)
        } catch let error as OriginProgram.UsageError {
            throw ValidationError(error.message)
        }
    }
}
