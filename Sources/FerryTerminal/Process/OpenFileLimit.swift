import Foundation

/// The number of files and sockets that this process may hold open.
package enum OpenFileLimit {
    /// The soft limit now; `nil` when there is none, or it cannot be told.
    package static var current: Int? {
        var limit = rlimit()
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    /// Raises the soft limit towards the hard one, to at most 65,536; what cannot be raised stays.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, 65_536)
        guard wanted > limit.rlim_cur else { return }
        limit.rlim_cur = wanted
        _ = setrlimit(Platform.openFiles, &limit)
    }
}
