/// A place that is given by name alone, below a directory that is allowed. Pure: links are the file system's matter.
package enum PlaceBelow {
    /// The names of directories in a relative path; `nil` when one of them is empty, is hidden or leads up (begins with a
    /// dot), or has a backslash or a NUL.
    package static func names(in path: String) -> [Substring]? {
        let names = path.split(at: "/", omittingEmptySubsequences: false)
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
                && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\\") }
        }
        return isPlain ? names : nil
    }

    /// The first of these directories, all absolute, that an absolute place is or is below by its name, and the names that
    /// lead from there to it; `nil` when there is none.
    package static func root(of place: String, among allowed: [String]) -> (root: String, names: [Substring])? {
        for root in allowed where Paths.isPlace(place, in: root) {
            let rest = (place.dropping(prefix: root) ?? "").split(at: "/").joined(separator: "/")
            if rest.isEmpty { return (root, []) }
            return names(in: rest).map { (root, $0) }
        }
        return nil
    }
}
