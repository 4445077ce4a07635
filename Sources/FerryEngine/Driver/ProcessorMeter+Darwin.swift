#if canImport(Darwin)
    import Darwin

    extension ProcessorMeter.ThreadTime {
        /// Returns the time of all threads together, as a single entry, because Darwin reports the waits of each thread only at
        /// a high cost.
        static func all() -> [Int: Self] {
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return [:] }
            return [0: Self(ran: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime), waited: 0)]
        }

        private static func nanoseconds(_ time: timeval) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
    }
#endif
