#if canImport(Darwin)
    import Darwin
    import ObjectiveC

    extension SystemThread {
        /// The number of a thread before it has one.
        static var unknown: pthread_t? { nil }

        /// What a thread begins with; `context` is the retained ``SystemThread``.
        static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            let thread = Unmanaged<SystemThread>.fromOpaque(context).takeRetainedValue()
            pthread_setname_np(thread.name)
            pooled { thread.body() }
            return nil
        }

        /// Calls the body, and releases the objects that Apple's frameworks have left to the thread meanwhile.
        static func pooled(_ body: () -> Void) { autoreleasepool { body() } }
    }
#endif
