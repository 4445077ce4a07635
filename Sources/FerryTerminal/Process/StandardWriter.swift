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

    /// What is written by one thread.
    private final class Lane: Sendable {
        struct State {
            /// In order, neighbours for one descriptor in one.
            var texts: [(descriptor: Int32, bytes: [UInt8])] = []
            /// Somebody is on the way to write them.
            var isScheduled = false
            /// Bytes that wait or are being written.
            var waiting: [Int32: Int] = [:]
            var closed: Set<Int32> = []
        }

        let queue: DispatchQueue
        let state = Mutex(State())

        init(_ label: String) { queue = DispatchQueue(label: label) }

        func write() {
            while true {
                let texts = state.withLock { state in
                    defer { state.texts.removeAll() }
                    state.isScheduled = !state.texts.isEmpty
                    return state.texts
                }
                if texts.isEmpty { return }
                for text in texts {
                    let isWritten = StandardStreams.write(text.bytes, to: text.descriptor)
                    state.withLock { state in
                        state.waiting[text.descriptor, default: 0] -= text.bytes.count
                        if !isWritten { state.closed.insert(text.descriptor) }
                    }
                }
            }
        }
    }

    private let output: Lane
    private let error: Lane

    package init() {
        error = Lane("ferry.standard-error")
        output = isatty(1) == 1 ? error : Lane("ferry.standard-output")
    }

    /// Has the bytes written; false when the descriptor is known to take no more.
    ///
    /// What comes while the thread writes is written with one call after that: thousands of finished paths need not be
    /// thousands of system calls.
    package func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let lane = lane(of: descriptor)
        let (isOpen, isFirst) = lane.state.withLock { state in
            guard !state.closed.contains(descriptor) else { return (false, false) }
            state.waiting[descriptor, default: 0] += bytes.count
            if let last = state.texts.indices.last, state.texts[last].descriptor == descriptor {
                state.texts[last].bytes += bytes
            } else {
                state.texts.append((descriptor, bytes))
            }
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if isFirst { lane.queue.async { lane.write() } }
        return isOpen
    }

    private func lane(of descriptor: Int32) -> Lane { descriptor == 1 ? output : error }

    /// Whether so much waits that what is only for the moment should be left out.
    package func isBehind(_ descriptor: Int32) -> Bool {
        lane(of: descriptor).state.withLock { $0.waiting[descriptor, default: 0] > Self.patience }
    }

    /// Returns when everything that was handed over so far has been written or cannot be.
    package func drained() async {
        for lane in [output, error] {
            await withCheckedContinuation { continuation in lane.queue.async { continuation.resume() } }
        }
    }
}
