#if os(Linux)
    package import Ferry
    import Foundation
    import Glibc

    /// Two network namespaces, connected by virtual cables: the watched one, `inside`, and its peer, `outside`.
    ///
    ///     inside                outside
    ///     eth0  192.0.2.2/24 ── eth0  192.0.2.1/24
    ///     wwan0 10.64.0.2/24 ── wwan0 10.64.0.1/24
    package struct NetworkNamespace: Sendable {
        /// An absolute path, because on some systems the program is not in users' PATH.
        private static let program = "/usr/sbin/ip"

        package let inside: String
        package let outside: String

        /// Whether this process may create namespaces.
        package static let isPossible: Bool = {
            let name = "ferry-try-\(getpid())"
            guard run(["netns", "add", name]) else { return false }
            defer { _ = run(["netns", "del", name]) }
            return run(["-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"])
        }()

        /// Runs a body with the cables connected, eth0 up and no default route. Removes everything afterwards.
        package static func with(_ body: (NetworkNamespace) async throws -> Void) async throws {
            let id = UUID().uuidString.prefix(8)
            let network = NetworkNamespace(inside: "ferry-in-\(id)", outside: "ferry-out-\(id)")
            defer { for name in [network.inside, network.outside] { _ = run(["netns", "del", name]) } }
            try await network.lay()
            try await body(network)
        }

        private func lay() async throws {
            for name in [inside, outside] { try Self.ip("netns add \(name)") }
            for (name, number) in [("eth0", "192.0.2."), ("wwan0", "10.64.0.")] {
                try Self.ip("-n \(inside) link add \(name) type veth peer name \(name) netns \(outside)")
                try Self.ip("-n \(outside) addr add \(number)1/24 dev \(name)")
                try Self.ip("-n \(inside) addr add \(number)2/24 dev \(name)")
            }
            try far("link set eth0 up")
            try near("link set lo up", "link set eth0 up")
        }

        /// Runs `ip` commands in the watched namespace.
        package func near(_ commands: String...) throws {
            for command in commands { try Self.ip("-n \(inside) \(command)") }
        }
        /// Runs `ip` commands in the other namespace.
        package func far(_ commands: String...) throws {
            for command in commands { try Self.ip("-n \(outside) \(command)") }
        }

        /// Opens sockets in the watched namespace, on a thread that has entered it.
        package func sockets() -> NetlinkSockets? {
            // SAFETY: written before `done` is signalled, read after.
            final class Box: @unchecked Sendable {
                var sockets: NetlinkSockets?
            }
            let (box, done, path) = (Box(), DispatchSemaphore(value: 0), "/run/netns/\(inside)")
            Thread.detachNewThread {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                if descriptor >= 0, Self.enter(descriptor) { box.sockets = NetlinkSockets.open() }
                close(descriptor)
                done.signal()
            }
            done.wait()
            return box.sockets
        }

        /// setns(2) with CLONE_NEWNET, which the Glibc module does not export.
        private static func enter(_ descriptor: Int32) -> Bool {
            typealias Function = @convention(c) (Int32, Int32) -> Int32
            guard let symbol = dlsym(nil, "setns") else { return false }
            return unsafeBitCast(symbol, to: Function.self)(descriptor, 0x4000_0000) == 0
        }

        private static func ip(_ command: String) throws {
            let (end, text) = try RunningProgram.run([program] + command.split(separator: " ").map(String.init))
            guard end == .exited(0) else { throw Failure(command: command, text: text) }
        }

        private static func run(_ arguments: [String]) -> Bool { RunningProgram.succeeds([program] + arguments) }

        package struct Failure: Error {
            let command: String
            let text: String
        }
    }
#endif
