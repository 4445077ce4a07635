import Ferry
package import FerryCore

/// The limit of threads of this process.
package enum ThreadLimit {
    /// Returns the message if fewer threads can be started than a command needs; `nil` if they suffice.
    ///
    /// - Parameter isService: Whether the command serves others or does the work of a fleet.
    package static func shortage(isService: Bool) -> Reason? {
        let (found, least) = ThreadCount.found(isService: isService)
        guard found < least else { return nil }
        return """
            only \(found) more threads can be started, and \(least) are needed at least (ulimit -u, or the limit of the \
            container)
            """
    }
}
