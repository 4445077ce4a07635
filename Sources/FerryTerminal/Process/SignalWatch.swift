import Dispatch
import Ferry

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Catches the signals that stop the program: delivers the first one, and exits at the second.
package final class SignalWatch: Sendable {
    package static let suspending = SIGTSTP
    package static let continuing = SIGCONT
    package static let hangup = SIGHUP

    /// The caught signals in order: the first signal that stops the program, and all signals that do not stop it.
    package let signals: AsyncStream<Int32>
    // SAFETY: set once in init, only kept alive afterwards; dispatch sources are thread-safe.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// Catches SIGINT, SIGTERM and SIGCONT, and SIGHUP and SIGTSTP unless they are ignored (`nohup`).
    ///
    /// Create only one instance per process, because signal handlers are global. Returns `nil` if no pipe can be created.
    ///
    /// - Parameter hangupStops: Whether SIGHUP stops the program; otherwise every SIGHUP is delivered.
    package init?(hangupStops: Bool = true) {
        // Never closed: a handler may still run when the last signal has been delivered.
        guard let ends = try? Spawning.pipe(blocks: false) else { return nil }
        let reading = ends.reading
        signalPipe = ends.writing
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.signals = signals
        let source = DispatchSource.makeReadSource(fileDescriptor: reading)
        source.setEventHandler {
            var byte: UInt8 = 0
            while read(reading, &byte, 1) == 1 { continuation.yield(Int32(byte)) }
        }
        self.source = source
        source.activate()
        for number in [SIGINT, SIGTERM] { Self.install(stopAtSignal, for: number) }
        Self.install(deliverSignal, for: SIGCONT)
        if !Self.isIgnored(SIGHUP) { Self.install(hangupStops ? stopAtSignal : deliverSignal, for: SIGHUP) }
        if !Self.isIgnored(SIGTSTP) { Self.install(deliverSignal, for: SIGTSTP) }
    }

    /// The exit code after a signal: 130 for SIGINT, 143 for SIGTERM and SIGHUP.
    package static func exitCode(_ number: Int32) -> ExitCode { number == SIGINT ? .interrupted : .terminated }

    /// Exits the process with this status after this delay, even if its threads are busy or blocked on the disk.
    package static func leave(_ status: Int32, after seconds: Double) {
        DispatchQueue.global(qos: .userInteractive).asyncAfter(deadline: .now() + seconds) { _exit(status) }
    }

    /// Stops the process like the default action of SIGTSTP. Returns when it is continued.
    package static func suspend() {
        _ = signal(SIGTSTP, SIG_DFL)
        // A signal sent to the current thread is delivered before the call returns, and stops all threads. Pool threads
        // block this signal, so it is unblocked first.
        var own = sigset_t()
        var before = sigset_t()
        sigemptyset(&own)
        sigaddset(&own, SIGTSTP)
        _ = pthread_sigmask(SIG_UNBLOCK, &own, &before)
        _ = pthread_kill(pthread_self(), SIGTSTP)
        _ = pthread_sigmask(SIG_SETMASK, &before, nil)
        install(deliverSignal, for: SIGTSTP)
    }

    /// Returns the requests to exit among the signals of a daemon. A signal that suspends takes effect at once.
    ///
    /// - Parameter hangup: Called on SIGHUP, which then does not request an exit.
    package static func stops(
        _ signals: AsyncStream<Int32>?, hangup: (@Sendable () -> Void)? = nil
    ) -> AsyncStream<Void> {
        guard let signals else { return AsyncStream { _ in } }
        let iterator = StopIterator(signals, hangup)
        return AsyncStream { await iterator.next() }
    }

    private actor StopIterator {
        private var iterator: AsyncStream<Int32>.Iterator
        private let hangup: (@Sendable () -> Void)?

        init(_ signals: AsyncStream<Int32>, _ hangup: (@Sendable () -> Void)?) {
            iterator = signals.makeAsyncIterator()
            self.hangup = hangup
        }

        func next() async -> Void? {
            var own = iterator
            defer { iterator = own }
            while let number = await own.next(isolation: #isolation) {
                switch number {
                case SignalWatch.suspending: SignalWatch.suspend()
                case SignalWatch.continuing: break
                case SignalWatch.hangup where hangup != nil: hangup?()
                default: return ()
                }
            }
            return nil
        }
    }

    private static func install(_ handler: @escaping Platform.Handler, for number: Int32) {
        var action = sigaction()
        Platform.setHandler(handler, in: &action)
        action.sa_flags = Int32(SA_RESTART)
        _ = sigaction(number, &action, nil)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        let handler = Platform.handler(in: action)
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

// SAFETY: written once before the handler is installed, then only read.
nonisolated(unsafe) private var signalPipe: Int32 = -1
// SAFETY: touched only by the handler; two signals at once on two threads would at worst both count as the first.
nonisolated(unsafe) private var stopsSeen: Int32 = 0

/// Delivers a signal that stops the program; the second one ends it at once. Runs in signal context: calls only `write` and
/// `_exit`, which are async-signal-safe.
private func stopAtSignal(_ number: Int32) {
    stopsSeen += 1
    if stopsSeen > 1 { _exit(number == SIGINT ? 130 : 143) }
    deliverSignal(number)
}

/// Delivers a signal. Runs in signal context.
private func deliverSignal(_ number: Int32) {
    let error = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe, &byte, 1)
    errno = error
}
