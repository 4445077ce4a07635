import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The process that starts commands for a confined daemon: begun before the confinement, it is not under it, and what it
/// starts is not either.
///
/// It is this program with a word of its own, leads a session of its own, and has one descriptor beside the standard ones:
/// a socket whose other end the daemon alone holds. It ends when that is closed, however the daemon ends; what it started
/// goes on.
package enum StarterProcess {
    /// The word of the command line that leads here.
    package static let command = "start-commands"
    private static let descriptor: Int32 = 3

    static func failure(_ code: Int32) -> DownloadError {
        DownloadError(
            .internal, "the process that starts commands cannot be started",
            underlying: String(cString: strerror(code)))
    }

    /// Starts what the daemon asks for, until that is gone. False where there is no daemon.
    package static func run() -> Bool {
        guard fcntl(descriptor, F_GETFD) >= 0 else { return false }
        // A Ctrl-C, or the end of a service, is for the daemon: while that leaves in order, commands still start.
        for number in [SIGINT, SIGTERM, SIGHUP] { _ = signal(number, SIG_IGN) }
        serve(MessageSocket(descriptor), with: LocalStarter())
        return true
    }

    /// Answers requests until the other end is closed, or says what is no request.
    static func serve(_ socket: MessageSocket, with starter: some CommandStarter) {
        while let request = socket.receive(StarterMessage.Request.self) {
            starter.start(request.command, request.variables) { failure in
                _ = socket.send(StarterMessage.Reply(number: request.number, failure: failure))
            }
        }
    }
}
