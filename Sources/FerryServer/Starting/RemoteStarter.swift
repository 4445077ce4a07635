import Ferry
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Starts commands through an unconfined process (``StarterProcess``).
final class RemoteStarter: CommandStarter {
    private struct State {
        var last = 0
        /// The completion handlers of requested commands.
        var waiting: [Int: @Sendable (String?) -> Void] = [:]
        var isGone = false
    }
    private let socket: MessageSocket
    private let state = Mutex(State())

    /// The failure after the starter process has ended.
    private static let gone = "the process that starts commands has ended; start the daemon again"

    /// - Parameters:
    ///   - socket: The daemon's end of the socket; the starter takes ownership.
    ///   - process: The process at the other end, if it is a child of this process.
    init(socket: Int32, process: Int32?, logger: Logger) {
        self.socket = MessageSocket(socket)
        onOwnThread("ferry-starter", stackSize: 256 << 10) { [self] in
            receive()
            // Reaps the process when it exits.
            var status: Int32 = 0
            if let process { while waitpid(process, &status, 0) < 0, errno == EINTR {} }
            logger.error("commands cannot be started any more", metadata: ["error": "\(Self.gone)"])
        }
    }

    func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void
    ) {
        let number = state.withLock { state -> Int? in
            guard !state.isGone else { return nil }
            state.last += 1
            state.waiting[state.last] = ended
            return state.last
        }
        guard let number else { return ended(Self.gone) }
        let request = StarterMessage.Request(number: number, command: command, variables: variables)
        guard socket.send(request) else {
            return settle(number, "the command is too long, or " + Self.gone)
        }
    }

    private func receive() {
        while let reply = socket.receive(StarterMessage.Reply.self) { settle(reply.number, reply.failure) }
        socket.shutDown()
        let waiting = state.withLock { state in
            state.isGone = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for (_, ended) in waiting { ended(Self.gone) }
    }

    private func settle(_ number: Int, _ failure: String?) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?(failure)
    }
}

/// The messages between a confined daemon and its starter process, each a line of JSON.
enum StarterMessage {
    /// A request of the daemon to start a command.
    struct Request: Codable, Sendable, Hashable {
        /// Identifies the request in the reply.
        var number: Int
        var command: [String]
        var variables: [String: String]
    }

    /// A reply of the starter process: the command has ended, or cannot be started.
    struct Reply: Codable, Sendable, Hashable {
        var number: Int
        var failure: String?
    }
}

/// Starts commands in separate processes and reports when they end.
package protocol CommandStarter: Sendable {
    /// Runs a program with these arguments, and with these variables in addition to the inherited environment.
    ///
    /// `ended` is called once: when the command exits, or with the reason why it cannot be started.
    func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void)
}

/// Starts commands from this process, without a shell. A command inherits only the standard descriptors, which are /dev/null, and
/// the variables on the list of ``ChildEnvironment``.
package struct LocalStarter: CommandStarter {
    package init() {}

    package func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void
    ) {
        let environment = ChildEnvironment.command(from: ProcessInfo.processInfo.environment)
            .merging(variables) { $1 }
        do throws(Spawning.Failure) {
            let program = try SpawnedProgram.spawn(command, environment: environment)
            // Reaps the process when it exits.
            onOwnThread("ferry-launched") {
                _ = program.wait()
                ended(nil)
            }
        } catch { ended(error.reason) }
    }
}
