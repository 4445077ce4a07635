package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A daemon for clients of aria2's RPC interface, as `aria2c --enable-rpc` is one. Its list is kept for the next start
/// with the same port.
package struct Aria2Service: Sendable {
    /// The port on loopback.
    package var port: Int
    /// The token that calls present; `nil` for one that is made and printed once.
    package var secret: String?
    /// Where downloads go, and below which clients may put them. Absolute.
    package var directory: String
    /// Downloads that run at a time.
    package var parallel: Int
    /// Bytes per second over all downloads.
    package var rateLimit: ByteCount?
    /// Values of aria2's options for downloads that have none of their own.
    package var defaults: [String: String]
    /// The downloads of the command line and of its files.
    package var requests: [DownloadRequest]
    package var life: Aria2Life
    package var isQuiet: Bool
    package var warnings: [String]

    /// Options of the command that a daemon does not follow: a program is started for a setting of `ferry serve` alone.
    static let unfollowed = [
        "ca-certificate", "disable-ipv6", "load-cookies", "netrc-path", "no-proxy", "on-download-complete",
        "on-download-error", "on-download-start", "on-download-stop",
    ]
}

/// When the command ends by itself.
package struct Aria2Life: Sendable {
    /// The process with whose end it stops.
    var process: Int32?
    /// The time after which it stops.
    var limit: Duration?

    /// Passes the signals of this process to `body`, and SIGTERM when the life is over.
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
