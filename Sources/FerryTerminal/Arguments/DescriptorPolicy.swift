/// Limits the numbers of connections and files to the process's descriptor limit. The number of connections is reduced first,
/// then the number of files.
///
/// Without this policy, connections could use up all descriptors, and opening the part files would fail.
struct DescriptorPolicy: Sendable, Hashable {
    /// The number of simultaneous downloads, 1 or more.
    let parallel: Int
    /// The maximum number of connections per download, 1 or more.
    let connections: Int
    /// The maximum number of connections per host over all downloads, 1 or more.
    let connectionsPerHost: Int

    /// Descriptors of standard streams, event loops, the signal pipe and a resolver; measured: 20.
    private static let base = 28
    /// Descriptors per file: part file, journal, a directory being synced, a file being read back.
    private static let perFile = 4

    /// Reduces the wanted numbers so that they fit into `limit` descriptors; `nil` for no limit.
    init(limit: Int?, parallel: Int, connections: Int, connectionsPerHost: Int) {
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
