import DequeModule
import Ferry
import FerryCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An asynchronous interface to the database. Its own thread calls libpq, runs one job at a time, and reconnects when the
/// connection is lost.
///
///     run ─► jobs ─► thread ─► PostgresConnection          notification ─► onNotify
///
/// Invariants:
/// - Only the thread uses the connection. Between two jobs, the thread waits for the next job and for notifications.
/// - A job that fails because the connection is lost is not repeated here; only its caller knows whether a repetition is safe.
package final class PostgresLink: Sendable {
    /// Uses the connection, or receives the reason why there is none.
    private typealias Job = @Sendable (Result<Unowned, DatabaseError>) -> Void

    // SAFETY: used only in a job that the thread itself calls.
    private struct Unowned: @unchecked Sendable {
        let connection: PostgresConnection
    }

    private struct State {
        var jobs: Deque<Job> = []
        var isClosed = false
    }

    private let address: DatabaseAddress
    private let name: String
    private let channel: String?
    private let onNotify: @Sendable () -> Void
    private let meter: FleetMeter
    private let state = Mutex(State())
    private let wake: WakePipe
    /// Readable once the thread has closed its connection.
    private let ended: WakePipe

    /// - Parameters:
    ///   - name: Shown in `pg_stat_activity`.
    ///   - channel: The channel whose notifications are forwarded; `nil` for none.
    ///   - meter: Measures statements and counts connections.
    package init(
        to address: DatabaseAddress, as name: String, listeningTo channel: String? = nil,
        meter: FleetMeter = FleetMeter(), onNotify: @escaping @Sendable () -> Void = {}
    ) throws(DatabaseError) {
        _ = try LibPQ.shared.get()
        do throws(Spawning.Failure) { (wake, ended) = (try WakePipe(), try WakePipe()) } catch {
            throw DatabaseError(.words(error.reason))
        }
        (self.address, self.name, self.channel, self.onNotify) = (address, name, channel, onNotify)
        self.meter = meter
        let code = onLastingThread("ferry.postgres", stackSize: 512 << 10) { [self] in
            work()
            ended.wake()
        }
        if code != 0 { throw DatabaseError(.words(String(cString: strerror(code)))) }
    }

    /// Runs `body` with the connection, on the thread.
    ///
    /// - Parameter statement: The kind of statement under which the duration is recorded.
    func run<Value: Sendable>(
        as statement: FleetStatement = .other,
        _ body: @escaping @Sendable (PostgresConnection) throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let result: Result<Value, DatabaseError> = await withCheckedContinuation { continuation in
            let job: Job = { [meter] found in
                do throws(DatabaseError) {
                    let value = try meter.measure(statement) { () throws(DatabaseError) in
                        try body(try found.get().connection)
                    }
                    continuation.resume(returning: .success(value))
                } catch { continuation.resume(returning: .failure(error)) }
            }
            let isTaken = state.withLock { state in
                if !state.isClosed { state.jobs.append(job) }
                return !state.isClosed
            }
            if isTaken { wake.wake() } else { job(.failure(Self.closed)) }
        }
        return try result.get()
    }

    /// Runs one statement, and returns its rows.
    func rows(
        _ statement: String, _ parameters: [String?] = [], as kind: FleetStatement = .other
    ) async throws(DatabaseError) -> ResultRows {
        try await run(as: kind) { connection throws(DatabaseError) in try connection.rows(statement, parameters) }
    }

    /// Ends the thread once the queued jobs are done, and waits up to a second until it has closed its connection: the process may
    /// exit next, and libpq must not run at the same time as the destructors of its libraries.
    package func close() {
        state.withLock { $0.isClosed = true }
        wake.wake()
        var end = pollfd(fd: ended.reading, events: Int16(POLLIN), revents: 0)
        _ = poll(&end, 1, 1000)
    }

    private static let closed = DatabaseError("the connection to the database is closed")

    // MARK: The thread

    private func work() {
        var connection: PostgresConnection?
        while let job = next(&connection) {
            do throws(DatabaseError) {
                if connection == nil {
                    let new = try PostgresConnection(to: address, as: name)
                    if let channel { _ = try new.rows("LISTEN \(channel)") }
                    connection = new
                    meter.connected()
                }
                if let connection { job(.success(Unowned(connection: connection))) }
            } catch { job(.failure(error)) }
            if connection?.isBroken == true { connection = nil }
        }
    }

    /// Returns the next job; `nil` once the link is closed and no job is left.
    private func next(_ connection: inout PostgresConnection?) -> Job? {
        while true {
            let (job, isClosed) = state.withLock { state in
                (state.jobs.popFirst(), state.isClosed)
            }
            if let job { return job }
            if isClosed { return nil }
            var waits = [pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0)]
            if let socket = connection?.socket { waits.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
            _ = poll(&waits, nfds_t(waits.count), -1)
            wake.drain()
            if waits.count > 1, waits[1].revents != 0 {
                if connection?.takeNotifications() == true { onNotify() }
                // Notifies here too, because notifications that the server sends without a connection are lost.
                if connection?.isBroken == true {
                    connection = nil
                    onNotify()
                }
            }
        }
    }
}
