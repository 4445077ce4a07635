#if canImport(Darwin)
    import Darwin

    extension SocketReading {
        /// Reads the state of a socket; `nil` if it is not a TCP socket.
        init?(of socket: CInt) {
            var info = tcp_connection_info()
            var size = socklen_t(MemoryLayout<tcp_connection_info>.size)
            guard getsockopt(socket, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) == 0 else { return nil }
            // In milliseconds. `trip` stays 0, because only the sender measures the current round trip.
            shortestTrip = info.tcpi_srtt &* 1000
            segments = UInt32(truncatingIfNeeded: info.tcpi_rxpackets)
            reordered = UInt32(
                truncatingIfNeeded: info.tcpi_rxoutoforderbytes / UInt64(max(1, info.tcpi_maxseg)))
            window = info.tcpi_rcv_wnd
            var count: CInt = 0
            size = socklen_t(MemoryLayout<CInt>.size)
            if getsockopt(socket, SOL_SOCKET, SO_NREAD, &count, &size) == 0 { unread = UInt32(max(0, count)) }
        }
    }
#endif
