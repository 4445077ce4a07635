package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// This process's limit on open files and sockets.
package enum OpenFileLimit {
    /// The current soft limit; `nil` if there is none or it cannot be determined.
    package static var current: Int? {
        var limit = rlimit()
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    /// The number of descriptors that every run needs for its threads and streams.
    private static let least = 16

    /// Returns the message if the limit is too low for any run; `nil` if it suffices.
    package static func shortage(_ limit: Int?) -> Reason? {
        guard let limit, limit < least else { return nil }
        return "only \(limit) files may be open at once (ulimit -n), but at least \(least) are needed"
    }

    /// Raises the soft limit to the hard one, at most 65,536. A failure is ignored.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, 65_536)
        guard wanted > limit.rlim_cur else { return }
        limit.rlim_cur = wanted
        _ = setrlimit(Platform.openFiles, &limit)
    }
}
