import Foundation

/// The number of files and sockets that this process may hold open.
package enum OpenFileLimit {
    /// The soft limit now; `nil` when there is none, or it cannot be told.
    package static var current: Int? {
        var limit = rlimit()
        guard getrlimit(Platform.openFiles, &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    /// What the threads and streams of any run need; with less they cannot even start.
    private static let least = 16

    /// Says that nothing can run under this limit; `nil` when something can (B12).
    package static func shortage(_ limit: Int?) -> String? {
        guard let limit, limit < least else { return nil }
        return "only \(limit) files may be open at once (ulimit -n), and \(least) are needed at least"
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
