#if canImport(Glibc)
    import CFerry
    import Glibc

    extension SocketReading {
        /// Reads the state of a socket; `nil` if it is not a TCP socket.
        init?(of socket: CInt) {
            var info = ferry_tcp_info()
            var size = socklen_t(MemoryLayout<ferry_tcp_info>.size)
            guard getsockopt(socket, CInt(IPPROTO_TCP), ferry_TCP_INFO, &info, &size) == 0 else { return nil }
            // `min_rtt` has all bits set until the kernel has measured it.
            shortestTrip = info.min_rtt == .max ? info.rtt : info.min_rtt
            trip = info.rcv_rtt
            segments = info.data_segs_in
            reordered = info.rcv_ooopack
            window = info.rcv_wnd
            unread = UInt32(max(0, ferry_unread(socket)))
        }
    }
#endif
