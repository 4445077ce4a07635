#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif
    import Synchronization

    /// Looks up the user of a loopback connection with a sock_diag(7) query for its socket, or from /proc/net if the kernel does
    /// not support such queries.
    package final class LoopbackPeers: Sendable {
        private enum Source {
            /// A netlink socket, and the sequence number of the last query.
            case diagnosis(Int32, sequence: UInt32)
            case tables
            case none
        }
        private let source: Mutex<Source>

        /// Determines once which source this system offers. A query that fails later returns ``LoopbackPeer/absent``.
        package init(usesDiagnosis: Bool = true) {
            var source = usesDiagnosis ? Self.diagnosis() : nil
            if source == nil, SocketTable.read("/proc/net/tcp") != nil { source = .tables }
            self.source = Mutex(source ?? .none)
        }

        deinit {
            source.withLock { if case .diagnosis(let descriptor, _) = $0 { close(descriptor) } }
        }

        /// Whether the system reports socket owners.
        package var tells: Bool { source.withLock { if case .none = $0 { false } else { true } } }

        /// Blocks for about 10 µs with sock_diag(7); with /proc/net for a time that grows with the number of sockets.
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

        /// Opens a socket for sock_diag(7), and tests it with a query for a connection from port 0, which cannot exist. Returns
        /// `nil` if the socket cannot be opened, or if the kernel responds incorrectly.
        private static func diagnosis() -> Source? {
            let protocolNumber: Int32 = 4  // NETLINK_SOCK_DIAG
            let descriptor = socket(AF_NETLINK, ferry_SOCK_RAW | ferry_SOCK_CLOEXEC, protocolNumber)
            guard descriptor >= 0 else { return nil }
            let nobody = TCPConnection.End(address: [127, 0, 0, 1], port: 0)
            guard ask(descriptor, TCPConnection(client: nobody, daemon: nobody), 1) == .nobody else {
                close(descriptor)
                return nil
            }
            return .diagnosis(descriptor, sequence: 1)
        }

        /// Returns `nil` if the kernel has not answered this query. The response is available as soon as `send`
        /// returns.
        private static func ask(
            _ descriptor: Int32, _ connection: TCPConnection, _ sequence: UInt32
        ) -> SocketDiagnosis.Answer? {
            let question = SocketDiagnosis.question(connection, sequence: sequence)
            guard send(descriptor, question, question.count, 0) == question.count else { return nil }
            var buffer = [UInt8](repeating: 0, count: 8192)
            // Skips responses left over from earlier queries.
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
