#if os(Linux)
    import CFerry

    extension ProcessArguments {
        static var list: (count: Int, memory: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)? {
            guard let memory = ferry_arguments() else { return nil }
            return (Int(ferry_argument_count()), memory)
        }
    }
#endif
