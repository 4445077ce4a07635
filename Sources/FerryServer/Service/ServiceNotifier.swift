import CFerry
import Ferry
import FerryCore
import ServiceLifecycle

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Reports the daemon's state to the service manager (sd_notify(3)), in datagrams to the socket that the service manager names.
///
/// The variables of this protocol stay in the environment, but started programs do not inherit them (``Ferry/ChildEnvironment``).
package struct ServiceNotifier: Sendable, Hashable {
    /// A state of the daemon.
    package enum Message: Sendable, Hashable {
        /// The daemon listens.
        case ready
        /// The daemon is stopping.
        case stopping
        /// The daemon is alive.
        case watchdog
        /// A description of the daemon's activity, for people.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.replacing("\n", by: " ")
            }
        }
    }

    /// The address of the socket: an absolute path, or an abstract name after `@`.
    let address: String
    /// The time within which the service manager expects the next ``Message/watchdog``; `nil` if it expects none.
    package let watchdog: Duration?

    /// The maximum length of an address: the size of `sun_path` without the terminator.
    private static let mostBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; `nil` without a usable socket.
    package init?(_ environment: [String: String], process: Int32 = getpid()) {
        guard let address = environment["NOTIFY_SOCKET"], address.utf8.count <= Self.mostBytes,
            address.utf8.hasPrefix("/") || address.utf8.hasPrefix("@") && address.utf8.count > 1
        else { return nil }
        self.address = address
        let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isForUs && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Sends messages in one datagram. It is not an error if the service manager has exited or does not read for five
    /// seconds.
    package func tell(_ messages: [Message]) async {
        let bytes = Array(messages.map(\.line).joined(separator: "\n").utf8)
        await onFileThread { send(bytes) }
    }

    private func send(_ bytes: [UInt8]) {
        let descriptor = socket(AF_UNIX, ferry_SOCK_DGRAM, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let path = Array(address.utf8)
        withUnsafeMutableBytes(of: &name.sun_path) { bytes in
            bytes.copyBytes(from: path)
            // The name of an abstract socket begins with a zero byte and has no terminator.
            if path.first == UInt8(ascii: "@") { bytes[0] = 0 }
        }
        let isAbstract = path.first == UInt8(ascii: "@")
        let start = MemoryLayout<sockaddr_un>.offset(of: \sockaddr_un.sun_path) ?? 2
        let length = socklen_t(start + path.count + (isAbstract ? 0 : 1))
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                while sendto(descriptor, bytes, bytes.count, 0, address, length) < 0, errno == EINTR {}
            }
        }
    }
}

/// Reports to the service manager that the daemon is alive, as long as its queue responds, and that the daemon is stopping.
struct NotifierService: Service {
    let notifier: ServiceNotifier
    let daemon: Daemon

    /// The interval of status reports to a service manager without a watchdog.
    private static let interval: Duration = .seconds(30)

    func run() async {
        await cancelWhenGracefulShutdown {
            let interval = notifier.watchdog.map { $0 / 2 } ?? Self.interval
            while (try? await Task.sleep(for: interval)) != nil {
                // Waits for the lock of the queue, because a daemon that hangs there does not count as alive.
                let status = ServiceNotifier.Message.status(daemon.activity)
                await notifier.tell(notifier.watchdog == nil ? [status] : [.watchdog, status])
            }
        }
        await notifier.tell([.stopping])
    }
}

extension Daemon {
    /// A description of the daemon's activity, in one line and without names.
    var activity: String { "running downloads: \(manager.running.count)" }
}
