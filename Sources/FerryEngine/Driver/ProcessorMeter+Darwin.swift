#if canImport(Darwin)
    import Darwin

    extension ProcessorMeter.ThreadTime {
        /// Returns the time of all threads together, as one: Darwin tells only with much effort what each waits for.
        static func all() -> [Int: Self] {
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return [:] }
            let ran = [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
                sum + UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
            }
            return [0: Self(ran: ran, waited: 0)]
        }
    }
#endif
