import Dispatch
import Foundation
import Synchronization

/// Writes to standard output and standard error on threads of its own, in the order of the calls.
///
/// A reader that does not read (a full pipe, a terminal stopped with Ctrl-S) would hold the thread that writes to it, and
/// with it the downloads, and the checkpoint that a signal asks for. So nobody but these threads waits for a reader.
/// Streams that lead to the same terminal share a thread: what goes to both stays in order.
package final class StandardWriter: Sendable {
    /// With more than this waiting, what is only for the moment (bars, progress) is left out.
    private static let patience = 65_536

    private struct State {
        var waiting: [Int32: Int] = [:]
        var closed: Set<Int32> = []
    }

    private let output: DispatchQueue
    private let error: DispatchQueue
    private let state = Mutex(State())

    package init() {
        error = DispatchQueue(label: "ferry.standard-error")
        output = isatty(1) == 1 ? error : DispatchQueue(label: "ferry.standard-output")
    }

    /// Has the bytes written; false when the descriptor is known to take no more.
    package func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let isOpen = state.withLock { state in
            guard !state.closed.contains(descriptor) else { return false }
            state.waiting[descriptor, default: 0] += bytes.count
            return true
        }
        guard isOpen else { return false }
        (descriptor == 1 ? output : error).async {
            let isWritten = StandardStreams.write(bytes, to: descriptor)
            self.state.withLock { state in
                state.waiting[descriptor, default: 0] -= bytes.count
                if !isWritten { state.closed.insert(descriptor) }
            }
        }
        return true
    }

    /// Whether so much waits that what is only for the moment should be left out.
    package func isBehind(_ descriptor: Int32) -> Bool {
        state.withLock { $0.waiting[descriptor, default: 0] > Self.patience }
    }

    /// Returns when everything that was handed over so far has been written or cannot be.
    package func drained() async {
        for queue in [output, error] {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
    }
}
