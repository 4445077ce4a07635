/// A directory of the model, with its visible names and, separately, its durable ones.
struct ModelDirectory: Sendable {
    enum Change: Sendable, Hashable {
        case link(String, UInt64)
        case unlink(String, UInt64)
        /// Atomic, even in a power cut.
        case rename(String, String, UInt64)

        /// The inode of the change.
        var inode: UInt64 {
            switch self {
            case .link(_, let inode), .unlink(_, let inode), .rename(_, _, let inode): inode
            }
        }
    }

    var names: [String: UInt64] = [:]
    private(set) var stable: [String: UInt64] = [:]
    /// The changes since the last sync, each with its step.
    private(set) var changes: [(tag: Int, change: Change)] = []

    mutating func make(_ change: Change, tag: Int) {
        Self.apply(change, to: &names)
        changes.append((tag, change))
    }

    mutating func settle() {
        stable = names
        changes.removeAll()
    }

    /// Returns the directory after a power cut: the changes for which `survives` returns true are applied.
    func survivor(_ survives: (Int) -> Bool) -> ModelDirectory {
        var found = ModelDirectory()
        found.stable = stable
        for (tag, change) in changes where survives(tag) { Self.apply(change, to: &found.stable) }
        found.names = found.stable
        return found
    }

    /// Whether this name of the file is durable and no unsynced change could remove it.
    func keeps(_ name: String, _ inode: UInt64) -> Bool {
        stable[name] == inode
            && !changes.contains { _, change in
                switch change {
                case .link(name, _), .unlink(name, _), .rename(name, _, _), .rename(_, name, _): true
                default: false
                }
            }
    }

    /// Whether any name refers to this file, now or after a power cut.
    func mentions(_ inode: UInt64) -> Bool {
        names.values.contains(inode) || stable.values.contains(inode) || changes.contains { $0.change.inode == inode }
    }

    private static func apply(_ change: Change, to names: inout [String: UInt64]) {
        switch change {
        case .link(let name, let inode): names[name] = inode
        case .unlink(let name, let inode): if names[name] == inode { names[name] = nil }
        case .rename(let from, let name, let inode):
            if names[from] == inode { names[from] = nil }
            names[name] = inode
        }
    }
}
