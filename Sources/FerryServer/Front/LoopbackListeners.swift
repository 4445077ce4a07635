import FerryCore
import Logging
import NIOCore
import ServiceLifecycle

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Two listeners with the same port, on 127.0.0.1 and ::1. Throws only if the first one cannot be bound, because the machine may
/// lack IPv6.
struct LoopbackListeners: Service {
    typealias Running = @Sendable (_ port: Int) -> Void

    let port: Int
    /// The option that sets the port.
    let option: String
    let logger: Logger
    let listener: @Sendable (_ host: String, _ port: Int, _ running: @escaping Running) -> any Service
    /// Called with the port once the first listener is bound.
    let bound: Running

    func run() async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { found.finish() }
                do {
                    try await listener("127.0.0.1", port) { port in
                        bound(port)
                        found.yield(port)
                    }.run()
                } catch { throw Self.failure(error, port: port, option: option) }
            }
            group.addTask {
                for await port in ports {
                    do { try await listener("::1", port) { _ in }.run() } catch {
                        logger.warning("::1 cannot be listened on", metadata: ["error": "\(error)"])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Translates a failure to bind the port that an option sets.
    static func failure(_ error: any Error, port: Int, option: String) -> any Error {
        guard let error = error as? IOError else { return error }
        switch error.errnoCode {
        case EADDRINUSE:
            return DownloadError(
                .conflict, ErrorPhrase(.takenPort, "\(port)"), suggestion: ErrorPhrase(.anotherPort, option),
                recovery: .needsUser)
        case EACCES:
            return DownloadError(
                .invalidRequest, ErrorPhrase(.closedPort, "\(port)"), suggestion: ErrorPhrase(.anotherPort, option),
                recovery: .needsUser)
        default: return error
        }
    }
}
