#if canImport(Darwin)
    import Darwin

    extension ProcessReading {
        /// Reads the process from getrusage(2) and getrlimit(2); values that they do not report are `nil`.
        public static func now() -> ProcessReading {
            var reading = ProcessReading()
            var usage = rusage()
            if getrusage(RUSAGE_SELF, &usage) == 0 {
                func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
                reading.processorSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
            }
            var limit = rlimit()
            if getrlimit(RLIMIT_NOFILE, &limit) == 0 { reading.mostDescriptors = UInt64(limit.rlim_cur) }
            return reading
        }
    }
#endif
