#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif
    import Synchronization

    /// Finds the user behind a connection over loopback: the kernel is asked for just that socket (sock_diag(7)), or, where it
    /// does not answer such questions, its tables in /proc/net are read.
    package final class LoopbackPeers: Sendable {
        private enum Source {
            /// A socket to the kernel, and the number of the last question.
            case diagnosis(Int32, sequence: UInt32)
            case tables
            case none
        }
        private let source: Mutex<Source>

        /// Tries once what this system has; a question that fails later is answered with ``LoopbackPeer/absent``.
        package init(usesDiagnosis: Bool = true) {
            var source = usesDiagnosis ? Self.diagnosis() : nil
            if source == nil, SocketTable.read("/proc/net/tcp") != nil { source = .tables }
            self.source = Mutex(source ?? .none)
        }

        deinit {
            source.withLock { if case .diagnosis(let descriptor, _) = $0 { close(descriptor) } }
        }

        /// Whether the system tells.
        package var tells: Bool { source.withLock { if case .none = $0 { false } else { true } } }

        /// Blocks for as long as the kernel takes: about 10 µs, or with /proc/net for as long as its tables are.
        package func peer(of connection: TCPConnection) -> LoopbackPeer {
            let answer: SocketDiagnosis.Answer? = source.withLock { source in
                guard case .diagnosis(let descriptor, var sequence) = source else { return nil }
                sequence &+= 1
                source = .diagnosis(descriptor, sequence: sequence)
                return Self.ask(descriptor, connection, sequence) ?? .nobody
            }
            if let answer { return answer.peer }
            guard tells else { return .unknowable }
            return SocketTable.peer(of: connection)
        }

        /// `nil` where such a socket cannot be had, or the kernel answers with something else than the truth: that there is no
        /// connection from port 0.
        private static func diagnosis() -> Source? {
            let protocolNumber: Int32 = 4  // NETLINK_SOCK_DIAG
            let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), protocolNumber)
            guard descriptor >= 0 else { return nil }
            let nobody = TCPConnection.End(address: [127, 0, 0, 1], port: 0)
            guard ask(descriptor, TCPConnection(client: nobody, daemon: nobody), 1) == .nobody else {
                close(descriptor)
                return nil
            }
            return .diagnosis(descriptor, sequence: 1)
        }

        /// `nil` when the kernel has not answered this question. The answer is there when `send` returns.
        private static func ask(
            _ descriptor: Int32, _ connection: TCPConnection, _ sequence: UInt32
        ) -> SocketDiagnosis.Answer? {
            let question = SocketDiagnosis.question(connection, sequence: sequence)
            guard send(descriptor, question, question.count, 0) == question.count else { return nil }
            var buffer = [UInt8](repeating: 0, count: 8192)
            // Answers of questions before it, if any were left, are passed over.
            for _ in 0..<8 {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return nil }
                if let answer = SocketDiagnosis.answer(in: buffer[..<count], to: connection, sequence: sequence) {
                    return answer
                }
            }
            return nil
        }
    }
#endif
