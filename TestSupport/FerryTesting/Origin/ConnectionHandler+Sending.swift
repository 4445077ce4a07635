import NIOCore
import Synchronization

extension ConnectionHandler {
    /// A response being sent.
    struct Sending {
        let number: Int
        let path: String
        let ending: Answer.Ending
        var steps: [Answer.Step]
        var next = 0
        /// The number of bytes of the step `next` that have been sent.
        var done: Int64 = 0
        /// Head and framing to send with the next content.
        var prefix: [UInt8] = []
        var pace: RateLimiter?
        /// Whether bytes are being written, a gate is closed or a timer runs. Each of these calls `pump` when it ends.
        var isWaiting = false

        init(answer: Answer, number: Int, path: String) {
            self.number = number
            self.path = path
            ending = answer.ending
            steps = answer.before + [.raw(answer.head)] + answer.body
        }
    }

    /// The maximum number of bytes in the channel; the next slice is made when they are written.
    static let sliceSize = 262_144

    /// Sends until it must wait; after 16 slices it yields to other connections.
    func pump() {
        guard !isPumping, let loop = context?.eventLoop else { return }
        isPumping = true
        defer { isPumping = false }
        for _ in 0..<16 {
            guard let current = sending, !current.isWaiting else { return }
            guard current.next < current.steps.count else {
                if flushPrefix() { continue }
                finish(current.ending, number: current.number)
                return
            }
            step(current.steps[current.next])
        }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute { bound.value.pump() }
    }

    private func step(_ step: Answer.Step) {
        switch step {
        case .raw(let bytes):
            sending?.prefix += bytes
            advance()
        case .literal(let bytes):
            sendSlice(of: Int64(bytes.count), chunk: nil) { buffer, offset, count in
                buffer.writeBytes(bytes[Int(offset)..<Int(offset) + count])
            }
        case .endless(let bytes):
            guard !bytes.isEmpty else { return advance() }
            sendSlice(of: .max, chunk: nil) { buffer, offset, count in
                var at = Int(offset % Int64(bytes.count))
                var left = count
                while left > 0 {
                    let piece = min(left, bytes.count - at)
                    buffer.writeBytes(bytes[at..<at + piece])
                    left -= piece
                    at = 0
                }
            }
        case .content(let resource, let range, let chunk):
            sendSlice(of: Int64(range.count), chunk: chunk) { buffer, offset, count in
                let start = range.lowerBound + offset
                guard resource.literal == nil else {
                    buffer.writeBytes(resource.bytes(start..<start + Int64(count)))
                    return
                }
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { pointer in
                    resource.source.fill(UnsafeMutableRawBufferPointer(rebasing: pointer[..<count]), at: start)
                    return count
                }
            }
        case .pace(let bytesPerSecond):
            sending?.pace = RateLimiter(bytesPerSecond: bytesPerSecond, now: now)
            advance()
        case .wait(let gate):
            if flushPrefix() { return }
            waitForGate(gate)
        case .delay(let duration):
            if flushPrefix() { return }
            advance()
            resumeLater(after: duration.nanoseconds)
        }
    }

    private func advance() {
        sending?.next += 1
        sending?.done = 0
    }

    private var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// Sends the next slice of a step with `total` bytes of content, as far as the rates allow.
    private func sendSlice(of total: Int64, chunk: Int?, write: (inout ByteBuffer, Int64, Int) -> Void) {
        guard let current = sending else { return }
        let left = total - current.done
        guard left > 0 else { return advance() }
        var wanted = Int(min(left, Int64(Self.sliceSize)))
        var head: [UInt8] = []
        var endsChunk = false
        if let chunk {
            let inChunk = current.done % Int64(chunk)
            let chunkSize = min(Int64(chunk), total - (current.done - inChunk))
            wanted = min(wanted, Int(chunkSize - inChunk))
            if inChunk == 0 { head = Array("\(String(chunkSize, radix: 16))\r\n".utf8) }
        }
        let granted: Int
        switch take(wanted) {
        case .granted(let count): granted = count
        case .later(let nanoseconds):
            if !flushPrefix() { resumeLater(after: nanoseconds) }
            return
        }
        if let chunk {
            let end = current.done + Int64(granted)
            endsChunk = end % Int64(chunk) == 0 || end == total
        }
        scratch.clear()
        scratch.writeBytes(current.prefix)
        scratch.writeBytes(head)
        write(&scratch, current.done, granted)
        if endsChunk { scratch.writeStaticString("\r\n") }
        sending?.prefix = []
        sending?.done += Int64(granted)
        send(counting: granted)
    }

    /// Sends pending head and framing. Returns false if there are none.
    private func flushPrefix() -> Bool {
        guard let prefix = sending?.prefix, !prefix.isEmpty else { return false }
        sending?.prefix = []
        scratch.clear()
        scratch.writeBytes(prefix)
        send(counting: 0)
        return true
    }

    private func send(counting count: Int) {
        guard let context, let current = sending else { return }
        sending?.isWaiting = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        let number = current.number
        promise.futureResult.assumeIsolated().whenComplete { result in
            if case .success = result, count > 0 { self.state.sent(count, number: number, path: current.path) }
            guard self.sending?.number == number else { return }
            self.sending?.isWaiting = false
            if case .success = result { self.pump() }
        }
        context.writeAndFlush(wrapOutboundOut(scratch), promise: promise)
    }

    private enum Taken {
        case granted(Int)
        case later(nanoseconds: Int64)
    }

    /// Takes bytes from the rate limits of the response, the connection and the server.
    private func take(_ wanted: Int) -> Taken {
        let now = now
        let rate = state.inner.withLock { $0.connectionRate }
        if connectionLimiter?.bytesPerSecond != rate.map({ max(1, $0) }) {
            connectionLimiter = rate.map { RateLimiter(bytesPerSecond: $0, now: now) }
        }
        var count = wanted
        if let granted = sending?.pace?.take(count, now: now) {
            guard granted > 0 else { return .later(nanoseconds: sending?.pace?.delay(count) ?? 0) }
            count = granted
        }
        if let granted = connectionLimiter?.take(count, now: now) {
            sending?.pace?.giveBack(count - granted)
            guard granted > 0 else { return .later(nanoseconds: connectionLimiter?.delay(count) ?? 0) }
            count = granted
        }
        let (granted, delay) = state.takeServerRate(count, now: now)
        sending?.pace?.giveBack(count - granted)
        connectionLimiter?.giveBack(count - granted)
        return granted > 0 ? .granted(granted) : .later(nanoseconds: delay)
    }

    private func resumeLater(after nanoseconds: Int64) {
        guard let context, let number = sending?.number else { return }
        sending?.isWaiting = true
        context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(max(1_000_000, nanoseconds))) {
            self.goOn(number)
        }
    }

    private func waitForGate(_ gate: Gate) {
        guard let channel = context?.channel, let number = sending?.number else { return }
        advance()
        sending?.isWaiting = true
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let isOpen = gate.pass {
            // A gate may be opened long after its connection and the server were closed.
            if channel.isActive { channel.eventLoop.execute { bound.value.goOn(number) } }
        }
        if isOpen { sending?.isWaiting = false }
    }

    private func goOn(_ number: Int) {
        guard sending?.number == number else { return }
        sending?.isWaiting = false
        pump()
    }
}

extension Duration {
    /// Whole nanoseconds, limited to about 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000
    }
}
