#if os(Linux)
    import CFerry
    import FerryCore

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// The loop of a ``NetworkWatch``'s thread, used by that thread only.
    ///
    ///     until the end:
    ///         publish if the state has changed, and NetworkManager has answered or the hold time has passed
    ///         poll: netlink | a child's output | the wake-up pipe | the next deadline
    struct NetworkLoop {
        private let watch: NetworkWatch
        private let hub: SnapshotHub
        private let tools: NetworkManagerTools
        private let sockets: NetlinkSockets?
        private let updates: WakePipe?
        private let clock = ContinuousClock()
        private let began: ContinuousClock.Instant

        private var table: NetworkTable?
        private var machine = MeteredMachine()
        private var question: (child: ChildProcess, text: [UInt8], deadline: Duration)?
        private var listener: (child: ChildProcess, text: [UInt8], hasSpoken: Bool)?
        /// The last published snapshot; `nil` before the first.
        private var published: NetworkSnapshot?
        private var isNew = true
        /// The time until which a change waits for NetworkManager's answer.
        private var heldUntil: Duration?

        private static let maximumText = 65_536

        init(
            watch: NetworkWatch, hub: SnapshotHub, tools: NetworkManagerTools, sockets: NetlinkSockets?,
            updates: WakePipe?
        ) {
            (self.watch, self.hub, self.tools, self.sockets, self.updates) = (watch, hub, tools, sockets, updates)
            began = clock.now
        }

        private var now: Duration { began.duration(to: clock.now) }

        mutating func run() {
            table = sockets?.list()
            perform(machine.networkChanged(at: now))
            while !watch.isEnding {
                publish()
                sleep()
            }
            question?.child.end()
            listener?.child.end()
            sockets?.close()
            watch.ready.open()
        }

        // MARK: Publishing

        private mutating func publish() {
            guard isNew else { return }
            let next = NetworkVerdict.judge(
                table, manager: machine.answer, settings: watch.settings, before: published)
            // Until NetworkManager answers, the previous snapshot stays published, because a new one could be wrong. While
            // offline, the answer does not matter.
            if !machine.isSettled, next.status.isOnline {
                guard let limit = heldUntil else { return heldUntil = now + tools.hold }
                if now < limit { return }
            }
            isNew = false
            heldUntil = nil
            published = next
            hub.update { $0 = next }
            watch.ready.open()
        }

        // MARK: Sleeping

        private mutating func sleep() {
            let none: Int32 = -1
            var entries = [
                updates?.reading ?? none, sockets?.events ?? none, question?.child.output ?? none,
                listener?.child.output ?? none,
            ]
            .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let times = [machine.wake, question?.deadline, heldUntil].compactMap { $0 }
            let count = poll(&entries, nfds_t(entries.count), Self.timeout(until: times.min(), from: now))
            if count > 0 {
                if entries[0].revents != 0 { drainWakeUps() }
                if entries[1].revents != 0 { readNetlink() }
                if entries[2].revents != 0 { readQuestion() }
                if entries[3].revents != 0 { readListener() }
            }
            if let wake = machine.wake, now >= wake { perform(machine.timeHasCome()) }
            if let limit = question?.deadline, now >= limit { endQuestion(machine.timedOut(at: now)) }
        }

        /// The timeout for poll(2) in milliseconds, rounded up; -1 for no timeout.
        private static func timeout(until time: Duration?, from now: Duration) -> Int32 {
            guard let time else { return -1 }
            let rest = time - now
            guard rest > .zero else { return 0 }
            return Int32(
                clamping: rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000 + 1)
        }

        private mutating func drainWakeUps() {
            updates?.drain()
            isNew = true
        }

        private mutating func readNetlink() {
            sockets?.drain()
            let next = sockets?.list() ?? table
            guard next != table || machine.asksOften else { return }
            table = next
            isNew = true
            perform(machine.networkChanged(at: now))
        }

        // MARK: NetworkManager

        private mutating func perform(_ commands: [MeteredMachine.Command]) {
            var commands = commands
            while !commands.isEmpty {
                switch commands.removeFirst() {
                case .ask:
                    if let program = tools.busctl, let child = ChildProcess.start(program, NetworkManagerText.question)
                    {
                        question = (child, [], now + tools.limit)
                    } else {
                        commands += machine.answered(nil, at: now)
                    }
                case .listen:
                    let child = tools.gdbus.flatMap {
                        ChildProcess.startForLife($0, NetworkManagerText.subscription)
                    }
                    if let child {
                        listener = (child, [], false)
                    } else {
                        machine.cannotListen(at: now)
                    }
                }
            }
        }

        private mutating func readQuestion() {
            guard let child = question?.child else { return }
            while let bytes = child.read() {
                if bytes.isEmpty { return }
                if (question?.text.count ?? 0) < Self.maximumText { question?.text += bytes }
            }
            let answer = NetworkManagerText.answer(String(decoding: question?.text ?? [], as: UTF8.self))
            endQuestion(machine.answered(answer, at: now))
        }

        private mutating func endQuestion(_ commands: [MeteredMachine.Command]) {
            question?.child.end()
            question = nil
            isNew = true
            perform(commands)
        }

        private mutating func readListener() {
            guard let child = listener?.child else { return }
            while let bytes = child.read() {
                if bytes.isEmpty { return }
                listener?.hasSpoken = true
                for line in lines(bytes) {
                    perform(machine.heard(NetworkManagerText.notice(line)))
                    isNew = true
                }
            }
            // A program that exits without output counts as missing.
            if listener?.hasSpoken == true { machine.listenerEnded() } else { machine.cannotListen(at: now) }
            child.end()
            listener = nil
        }

        /// The complete lines that end within these bytes.
        private mutating func lines(_ bytes: [UInt8]) -> [String] {
            var lines: [String] = []
            for byte in bytes {
                if byte == UInt8(ascii: "\n") {
                    lines.append(String(decoding: listener?.text ?? [], as: UTF8.self))
                    listener?.text = []
                } else if (listener?.text.count ?? 0) < Self.maximumText {
                    listener?.text.append(byte)
                }
            }
            return lines
        }
    }
#endif
