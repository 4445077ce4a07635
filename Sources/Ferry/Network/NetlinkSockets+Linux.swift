#if os(Linux)
    import CFerry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Two rtnetlink sockets: one receives change notifications, the other requests dumps.
    package struct NetlinkSockets: Sendable {
        let events: Int32
        private let lists: Int32

        /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
        private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
        /// Datagrams of a dump are at most 32 KiB long.
        private static let bufferSize = 65_536

        /// Opens the sockets; `nil` if the system does not permit them.
        package static func open() -> NetlinkSockets? {
            let events = ferry_route_socket(groups)
            guard events >= 0 else { return nil }
            let lists = ferry_route_socket(0)
            guard lists >= 0 else {
                _ = ferry_close(events)
                return nil
            }
            // The kernel answers within milliseconds; the limit guards against blocking forever.
            var limit = timeval(tv_sec: 2, tv_usec: 0)
            setsockopt(lists, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            return NetlinkSockets(events: events, lists: lists)
        }

        func close() {
            _ = ferry_close(events)
            _ = ferry_close(lists)
        }

        /// Discards pending notifications, because everything is listed again. Therefore nothing is lost in an overflow
        /// (ENOBUFS).
        func drain() {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            while true {
                let count = recv(events, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count < 0, errno != ENOBUFS, errno != EINTR { return }
            }
        }

        /// Dumps links, addresses and routes; `nil` if the kernel refuses or the dumps keep being interrupted.
        func list() -> NetworkTable? {
            attempts: for _ in 0..<4 {
                var table = NetlinkTable()
                for kind in [NetlinkMessage.getLink, NetlinkMessage.getAddress, NetlinkMessage.getRoute] {
                    switch list(kind, into: &table) {
                    case .whole: break
                    // Inconsistent dump: retry now, or after the next notification.
                    case .interrupted: continue attempts
                    case .refused: return nil
                    }
                }
                return table.table
            }
            return nil
        }

        private enum Listing { case whole, interrupted, refused }

        private func list(_ kind: UInt16, into table: inout NetlinkTable) -> Listing {
            let sequence = UInt32(kind)
            let request = NetlinkMessage.dump(kind, sequence: sequence)
            guard send(lists, request, request.count, 0) == request.count else { return .refused }
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            var isInterrupted = false
            while true {
                let count = recv(lists, &buffer, buffer.count, Int32(MSG_TRUNC))
                if count < 0, errno == EINTR { continue }
                guard count > 0, count <= buffer.count else { return .refused }
                for message in NetlinkMessage.all(in: buffer[..<count]) where message.sequence == sequence {
                    if message.flags & NetlinkMessage.wasInterrupted != 0 { isInterrupted = true }
                    if message.type == NetlinkMessage.done { return isInterrupted ? .interrupted : .whole }
                    if message.type == NetlinkMessage.error { return .refused }
                    table.add(message)
                }
            }
        }
    }
#endif
