/// The user IDs of this process's user namespace (user_namespaces(7)).
package enum UserNamespace {
    /// The overflow ID, which the system reports for every user who has no ID in this namespace, from the texts of
    /// `/proc/self/uid_map` and `/proc/sys/kernel/overflowuid`; `nil` if every user has one.
    package static func unmapped(map: String?, overflow: String?) -> UInt32? {
        let counts = (map ?? "").split(at: "\n").compactMap { line in
            line.split(at: " ").last.flatMap { UInt32($0.trimmedText) }.map(UInt64.init)
        }
        // A complete map covers all IDs except the highest, which is not valid.
        guard counts.reduce(0, &+) < UInt64(UInt32.max) else { return nil }
        return overflow.flatMap { UInt32($0.trimmedText) } ?? 65_534
    }
}
