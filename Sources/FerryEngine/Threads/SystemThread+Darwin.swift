#if canImport(Darwin)
    import Darwin
    import ObjectiveC

    extension SystemThread {
        /// The value of a thread variable before the thread is created.
        static var unknown: pthread_t? { nil }

        /// The start routine of a thread; `context` is the retained ``SystemThread``.
        static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
            let thread = Unmanaged<SystemThread>.fromOpaque(context).takeRetainedValue()
            pthread_setname_np(thread.name)
            pooled { thread.body() }
            return nil
        }

        /// Calls the body, then releases the objects that Apple's frameworks have autoreleased meanwhile.
        static func pooled(_ body: () -> Void) { autoreleasepool { body() } }
    }
#endif
