import FerryCore
import Synchronization

/// The first request of a download and its response or failure, from before its run: the run continues with it, so that nothing
/// is requested twice.
package final class FirstExchange: Sendable {
    // SAFETY: only one task at a time uses the response: its sender gives it up, and it is taken once, under a lock.
    private struct Held: @unchecked Sendable {
        let result: Result<TransferResponse, TransferFailure>
    }

    private let held: Mutex<Held?>
    /// The validators of the finished file that made the request conditional; `nil` for a plain request.
    let unless: FileIdentity?

    /// The caller must not use the response afterwards.
    init(_ response: TransferResponse, unless: FileIdentity?) {
        held = Mutex(Held(result: .success(response)))
        self.unless = unless
    }

    init(_ failure: TransferFailure, unless: FileIdentity?) {
        held = Mutex(Held(result: .failure(failure)))
        self.unless = unless
    }

    /// Returns the response if it answers this request; `nil` if it does not, or if it was taken before. Throws the failure in
    /// the same way.
    func take(for fetch: TransferMachine.Fetch) throws(TransferFailure) -> sending TransferResponse? {
        let held = held.withLock { held in
            defer { held = nil }
            return held
        }
        guard let held, fetch.ask == .whole, fetch.source == 0, fetch.unless == unless else { return nil }
        // SAFETY: this is the only reference to the response.
        nonisolated(unsafe) let response = try held.result.get()
        return response
    }
}
