package import FerryAPI
package import FerryCore
package import Logging
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

/// Runs a daemon for `ferry serve`, until a signal stops it.
package struct ServeRun: Sendable {
    private let place: DaemonPaths
    private let options: Daemon.Options
    private let logger: Logger

    package init(_ place: DaemonPaths, _ options: Daemon.Options, logger: Logger) {
        self.place = place
        self.options = options
        self.logger = logger
    }

    /// Serves until `stops` yields or an error occurs.
    ///
    /// - Parameters:
    ///   - stops: Yields at each request to terminate the process.
    ///   - ready: Receives the addresses, or the error if the daemon cannot listen.
    ///   - signsIn: Whether the printed address opens the page signed in, once and within a minute; for a terminal.
    ///   - listening: Receives the lines to print: the address of the page, unless loopback is off, and the addresses of the doors.
    ///     With `signsIn`, the line of a door shows the door's token if this start generated it.
    package func run(
        stops: AsyncStream<Void>, ready: ReadyDescriptor? = nil, signsIn: Bool = false,
        listening: @escaping @Sendable ([String]) -> Void
    ) async throws(DownloadError) {
        let isTold = Atomic(false)
        do throws(DownloadError) {
            try await serve(stops) { daemon, addresses in
                isTold.store(true, ordering: .relaxed)
                ready?.tell(.listening(Self.line(addresses)))
                let page = signsIn ? daemon.api.signInAddress() : addresses.port.map { "http://127.0.0.1:\($0)/" }
                let doors = daemon.doors.all.compactMap { door in
                    addresses.doors[door.name].map { door.announcement(port: $0, showsSecret: signsIn) }
                }
                listening((page.map { [$0] } ?? []) + doors)
            }
        } catch {
            if !isTold.load(ordering: .relaxed) { ready?.tell(.failed(error)) }
            throw error
        }
    }

    private static func line(_ addresses: Addresses) -> ReadyLine.Listening {
        ReadyLine.Listening(
            pid: Int(ProcessInfo.processInfo.processIdentifier), version: FerryVersion.text,
            socket: addresses.socket, port: addresses.port, doors: addresses.doors,
            addresses: addresses.hosts)
    }

    private func serve(
        _ stops: AsyncStream<Void>, listening: @escaping @Sendable (Daemon, Addresses) -> Void
    ) async throws(DownloadError) {
        let daemon = try Daemon(place, options, logger: logger)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in stops {
                    logger.notice("leaving")
                    await daemon.stop()
                }
            }
            group.addTask {
                guard let addresses = await daemon.listening() else { return }
                listening(daemon, addresses)
                await daemon.notifier?.tell([.ready, .status(daemon.activity)])
            }
            let result: Result<Void, DownloadError>
            do throws(DownloadError) { result = .success(try await daemon.run()) } catch { result = .failure(error) }
            group.cancelAll()
            return result
        }
        try result.get()
    }
}

/// The descriptor that the starter of a daemon reads: it receives one line and is then closed.
///
/// Child processes do not inherit it, so the reader sees the end of file when the daemon ends.
package struct ReadyDescriptor: Sendable {
    private let number: Int32

    /// Throws `invalidRequest` if the descriptor is not open.
    package init(_ number: Int32) throws(DownloadError) {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, fcntl(number, F_SETFD, flags | FD_CLOEXEC) >= 0 else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.closedDescriptor, "\(number)"), suggestion: ErrorPhrase(.giveDescriptor),
                recovery: .needsUser)
        }
        self.number = number
    }

    /// Keeps the descriptor open across exec(2).
    func keep() { _ = fcntl(number, F_SETFD, 0) }

    /// Writes the line and closes the descriptor. A reader that has closed its end is not an error.
    package func tell(_ line: ReadyLine) {
        defer { if number > 2 { close(number) } }
        guard let data = try? JSONCoding.encode(line) else { return }
        var bytes = (Array(data) + [UInt8(ascii: "\n")])[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
