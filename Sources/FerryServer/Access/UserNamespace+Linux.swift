#if os(Linux)
    package import FerryCore

    extension UserNamespace {
        /// The overflow ID, which the system reports for every user without an ID in this namespace; `nil` if every user has one.
        package static let unmapped = unmapped(
            map: SystemText.read("/proc/self/uid_map"), overflow: SystemText.read("/proc/sys/kernel/overflowuid"))
    }
#endif
