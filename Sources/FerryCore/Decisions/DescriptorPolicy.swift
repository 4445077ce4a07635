/// How much fits into the file descriptors that a process may hold: fewer connections, then fewer files (B12).
///
/// Without it the first connections take them all, and the files fail that were to hold what came.
package struct DescriptorPolicy: Sendable, Hashable {
    /// Files at a time; 1 or more.
    package let parallel: Int
    /// The most connections of one file; 1 or more.
    package let connections: Int
    /// The most connections to one host, over all files; 1 or more.
    package let connectionsPerHost: Int

    /// Standard streams, event loops, the pipe for signals, a resolver; measured: 20.
    private static let base = 28
    /// A part file, its journal, a directory that is synced, a file that is read back.
    private static let perFile = 4

    /// Fits what was wished for into `limit` descriptors; `nil` for no limit.
    package init(limit: Int?, parallel: Int, connections: Int, connectionsPerHost: Int) {
        let wish = (parallel: max(1, parallel), connections: max(1, connections))
        guard let limit else {
            (self.parallel, self.connections) = wish
            self.connectionsPerHost = max(1, connectionsPerHost)
            return
        }
        let room = max(0, min(max(0, limit), 1 << 30) - Self.base)
        self.parallel = min(wish.parallel, max(1, room / (Self.perFile + 1)))
        let left = max(1, room - self.parallel * Self.perFile)
        self.connections = min(wish.connections, max(1, left / self.parallel))
        self.connectionsPerHost = min(max(1, connectionsPerHost), left)
    }
}
