/// Lexical operations on paths, by bytes.
package enum Paths {
    /// Returns `name` below `directory`; an absolute name is returned unchanged.
    package static func join(_ directory: String, _ name: String) -> String {
        if isAbsolute(name) || directory.isEmpty || directory == "." { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
    }

    /// Returns the parent directory: `a/b` of `a/b/c`, `/` of `/c`, `.` of `c`.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let parent = path[..<slash]
        return parent.isEmpty ? "/" : String(parent)
    }

    /// Returns the last component: `c` of `a/b/c`, `b` of `a/b/`; the whole text if it consists of slashes.
    package static func name(of path: String) -> String {
        let bytes = path.utf8
        guard let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return path }
        let slash = bytes[..<last].lastIndex(of: UInt8(ascii: "/"))
        return String(path[(slash.map(bytes.index(after:)) ?? bytes.startIndex)..<bytes.index(after: last)])
    }

    package static func isAbsolute(_ path: some StringProtocol) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    /// Returns an absolute path without `.`, `..` and empty components, as the engine normalizes the paths of requests. A relative
    /// path is returned unchanged.
    package static func normalized(_ path: String) -> String {
        guard isAbsolute(path) else { return path }
        var parts: [Substring] = []
        for part in path.split(at: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Whether `place` is lexically the directory or below it; both paths are absolute.
    package static func isPlace(_ place: String, in directory: String) -> Bool {
        if place.hasSameBytes(as: directory) { return true }
        return place.utf8.hasPrefix(directory.utf8.last == UInt8(ascii: "/") ? directory : directory + "/")
    }
}
