import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The process that starts commands for a confined daemon. It is started before the confinement, so neither it nor
/// its commands are confined.
///
/// Runs this program with a special argument, in a new session. Besides the standard descriptors the process has one socket, and
/// only the daemon holds its other end. The process exits when that end closes, however the daemon ends; commands that it started
/// continue.
package enum StarterProcess {
    /// The argument that starts this process.
    package static let command = "start-commands"
    private static let descriptor: Int32 = 3

    static func failure(_ code: Int32) -> DownloadError {
        DownloadError(
            .internal, "the process that starts commands cannot be started",
            underlying: String(cString: strerror(code)))
    }

    /// Starts commands for the daemon until the socket closes. Returns false without such a socket.
    package static func run() -> Bool {
        guard fcntl(descriptor, F_GETFD) >= 0 else { return false }
        // SIGINT from the terminal, and SIGTERM when the service stops, are meant for the daemon. Commands must still start while
        // the daemon shuts down.
        for number in [SIGINT, SIGTERM, SIGHUP] { _ = signal(number, SIG_IGN) }
        serve(MessageSocket(descriptor), with: LocalStarter())
        return true
    }

    /// Serves requests until the other end closes or sends an invalid message.
    static func serve(_ socket: MessageSocket, with starter: some CommandStarter) {
        while let request = socket.receive(StarterMessage.Request.self) {
            starter.start(request.command, request.variables) { failure in
                _ = socket.send(StarterMessage.Reply(number: request.number, failure: failure))
            }
        }
    }
}
