import Ferry
package import FerryCore

/// This process's limit on threads.
package enum ThreadLimit {
    /// Returns the message if fewer threads can be started than a command needs; `nil` if they suffice.
    ///
    /// - Parameter isService: Whether the command is a server or a fleet's worker.
    package static func shortage(isService: Bool) -> Reason? {
        let (found, least) = ThreadCount.found(isService: isService)
        guard found < least else { return nil }
        return """
            only \(found) more threads can be started, but at least \(least) are needed (ulimit -u, or the limit of \
            the container)
            """
    }
}
