import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The standard descriptors 0, 1 and 2.
package enum StandardStreams {
    /// Opens missing standard descriptors. Otherwise the next opened file would *become* standard output, and a
    /// printed path would be written into a download.
    ///
    /// A missing standard output is opened read-only, so that writing fails: the bytes of `-o -` must not be lost
    /// silently.
    package static func fillGaps() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Makes writing to a closed pipe an error instead of a signal.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Makes writing beyond `ulimit -f` an error (EFBIG) instead of a signal.
    package static func ignoreSizeLimit() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// Writes all bytes. Returns false if the reader is gone or the disk is full.
    package static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Bool {
        let isWritten = bytes.withContiguousStorageIfAvailable { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
        return isWritten ?? Array(bytes).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = writeBytes(descriptor, part)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                // Another process made the shared terminal or pipe non-blocking: wait until it is writable.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else {
                return false
            }
        }
        return true
    }
}

/// Declared outside the type, whose own `write` would hide the function of the C library.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// Writes to standard output and standard error on its own threads, in the order of the calls.
///
/// A reader that does not read (a full pipe, a terminal stopped with Ctrl-S) blocks the writing thread. Without these
/// threads, such a reader would block downloads, and the checkpoint after a signal. Streams to the same terminal share a thread,
/// which keeps their output in order.
package final class StandardWriter: Sendable {
    /// The number of waiting bytes beyond which transient output (bars, progress) is dropped.
    private static let patience = 65_536

    /// A write queue with its own thread.
    private final class Lane: Sendable {
        struct State {
            /// Pending texts in order; adjacent texts for the same descriptor are merged, except for those that are
            /// `isWhole`.
            var texts: [(descriptor: Int32, bytes: [UInt8], isWhole: Bool)] = []
            /// Whether a call to `write()` is scheduled.
            var isScheduled = false
            /// The number of bytes that are waiting or being written, by descriptor.
            var waiting: [Int32: Int] = [:]
            var closed: Set<Int32> = []
            /// The error number of the first failure.
            var failure: Int32?
        }

        private let queue: DispatchQueue
        private let state = Mutex(State())

        init(_ label: String) { queue = DispatchQueue(label: label) }

        /// The error number of the first failure.
        var failure: Int32? { state.withLock { $0.failure } }

        /// The number of bytes that are waiting or being written.
        func waiting(for descriptor: Int32) -> Int { state.withLock { $0.waiting[descriptor, default: 0] } }

        /// Returns when everything added so far is written or has failed.
        func drained() async {
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }

        /// Adds bytes. Returns false if the descriptor is known to be closed.
        func add(_ bytes: [UInt8], to descriptor: Int32, isWhole: Bool) -> Bool {
            let (isOpen, isFirst) = state.withLock { state in
                guard !state.closed.contains(descriptor) else { return (false, false) }
                state.waiting[descriptor, default: 0] += bytes.count
                if let last = state.texts.indices.last, state.texts[last].descriptor == descriptor, !isWhole,
                    !state.texts[last].isWhole
                {
                    state.texts[last].bytes += bytes
                } else {
                    state.texts.append((descriptor, bytes, isWhole))
                }
                defer { state.isScheduled = true }
                return (true, !state.isScheduled)
            }
            if isFirst { queue.async { self.write() } }
            return isOpen
        }

        private func write() {
            while true {
                let texts = state.withLock { state in
                    defer { state.texts.removeAll() }
                    state.isScheduled = !state.texts.isEmpty
                    return state.texts
                }
                if texts.isEmpty { return }
                for text in texts {
                    let isWritten = StandardStreams.write(text.bytes, to: text.descriptor)
                    let number = errno
                    state.withLock { state in
                        state.waiting[text.descriptor, default: 0] -= text.bytes.count
                        guard !isWritten else { return }
                        state.closed.insert(text.descriptor)
                        state.failure = state.failure ?? number
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

    /// Queues bytes for writing. Returns false if the descriptor is known to be closed.
    ///
    /// Bytes queued during a write are written with a single call, so that thousands of finished paths do not cost
    /// thousands of system calls; only bytes that are `isWhole` get their own call.
    package func write(_ bytes: [UInt8], to descriptor: Int32, isWhole: Bool = false) -> Bool {
        lane(of: descriptor).add(bytes, to: descriptor, isWhole: isWhole)
    }

    /// The error number of the first failure to write to standard output; `nil` for none, and for a pipe closed by its reader.
    package var outputFailure: Int32? { output.failure.flatMap { $0 == EPIPE ? nil : $0 } }

    private func lane(of descriptor: Int32) -> Lane { descriptor == 1 ? output : error }

    /// Whether so many bytes are waiting that transient output should be dropped.
    package func isBehind(_ descriptor: Int32) -> Bool {
        lane(of: descriptor).waiting(for: descriptor) > Self.patience
    }

    /// Returns when everything queued so far is written or has failed.
    package func drained() async {
        for lane in [output, error] { await lane.drained() }
    }
}
