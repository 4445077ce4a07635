package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A daemon for clients of aria2's RPC interface, like `aria2c --enable-rpc`. Its list is kept for the next start with the same
/// port.
package struct Aria2Service: Sendable {
    /// The port on loopback.
    package var port: Int
    /// The token that calls must present; `nil` for a generated token, which is printed once.
    package var secret: String?
    /// The absolute path of the default directory for downloads. Clients may choose directories below it.
    package var directory: String
    /// The maximum number of downloads that run at the same time.
    package var parallel: Int
    /// The maximum speed of all downloads together, in bytes per second.
    package var rateLimit: ByteCount?
    /// Values of aria2's options for downloads that have none of their own.
    package var defaults: [String: String]
    /// The downloads of the command line and of its files.
    package var requests: [DownloadRequest]
    package var life: Aria2Life
    package var isQuiet: Bool
    package var warnings: [String]

    /// Options of the command that have no effect on a daemon. A daemon starts only programs from the settings of
    /// `ferry serve`.
    static let unfollowed = [
        "ca-certificate", "disable-ipv6", "load-cookies", "netrc-path", "no-proxy", "on-download-complete",
        "on-download-error", "on-download-start", "on-download-stop",
    ]
}

/// The conditions under which the command ends by itself.
package struct Aria2Life: Sendable {
    /// The ID of the process whose exit ends the command.
    var process: Int32?
    /// The time after which the command ends.
    var limit: Duration?

    /// Passes the signals of this process to `body`, and a SIGTERM when a condition is met.
    package func run(_ body: @escaping @Sendable (AsyncStream<Int32>) async -> Void) async {
        let watch = SignalWatch()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        await withTaskGroup(of: Void.self) { group in
            if let own = watch?.signals {
                group.addTask { for await signal in own { continuation.yield(signal) } }
            }
            if let process {
                group.addTask {
                    while kill(process, 0) == 0 || errno == EPERM {
                        guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    }
                    continuation.yield(SIGTERM)
                }
            }
            if let limit {
                group.addTask { if (try? await Task.sleep(for: limit)) != nil { continuation.yield(SIGTERM) } }
            }
            await body(signals)
            group.cancelAll()
        }
    }
}
