/// The paths of the files that ended last, each as an eight-byte hash, so that memory does not grow with the list.
struct RecentPaths: Sendable {
    private static let most = 1 << 16
    private var known: Set<Int> = []
    /// A ring in order of insertion that begins at ``oldest``.
    private var ring: [Int] = []
    private var oldest = 0

    /// Adds a path. Returns false if it is known.
    mutating func insert(_ path: String) -> Bool {
        let number = path.hashValue
        guard known.insert(number).inserted else { return false }
        if ring.count < Self.most {
            ring.append(number)
        } else {
            known.remove(ring[oldest])
            ring[oldest] = number
            oldest = (oldest + 1) % Self.most
        }
        return true
    }
}
