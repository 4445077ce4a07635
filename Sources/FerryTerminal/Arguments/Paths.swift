/// Paths as text, with `/` between names.
package enum Paths {
    /// `name` under `directory`; an absolute name stands alone.
    package static func join(_ directory: String, _ name: String) -> String {
        if name.utf8.first == UInt8(ascii: "/") || directory.isEmpty || directory == "." { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
    }

    /// What holds the file: `a/b` of `a/b/c`, `/` of `/c`, `.` of `c`.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let parent = path[..<slash]
        return parent.isEmpty ? "/" : String(parent)
    }

    /// The last name: `c` of `a/b/c`.
    package static func name(of path: String) -> String {
        let bytes = path.utf8
        guard let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return path }
        let slash = bytes[..<last].lastIndex(of: UInt8(ascii: "/"))
        return String(path[(slash.map(bytes.index(after:)) ?? bytes.startIndex)..<bytes.index(after: last)])
    }
}
