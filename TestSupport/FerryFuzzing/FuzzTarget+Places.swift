import FerryCore
import SystemPackage

extension FuzzTarget {
    /// Any text as one word of a printed command line.
    static func shellWord(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input.filter { $0 != 0 }, as: UTF8.self)
        let word = ShellWord.quote(text)
        try promise(!word.isEmpty, "no word")
        let read = words("ferry get \(word) NEWURL")
        try promise(
            read.map { $0.count == 4 && $0[2] == Array(text.utf8) } ?? false,
            "\(text.debugDescription) became \(word.debugDescription)")
    }

    /// Returns the words of a line as in a POSIX shell; `nil` if the shell would do more than split it.
    private static func words(_ line: String) -> [[UInt8]]? {
        var words: [[UInt8]] = []
        var current: [UInt8]?
        var isQuoted = false
        var isEscaped = false
        for byte in line.utf8 {
            if isQuoted {
                if byte == UInt8(ascii: "'") { isQuoted = false } else { current?.append(byte) }
            } else if isEscaped {
                current?.append(byte)
                isEscaped = false
            } else {
                switch byte {
                case UInt8(ascii: " "):
                    if let word = current { words.append(word) }
                    current = nil
                case UInt8(ascii: "'"): (current, isQuoted) = (current ?? [], true)
                case UInt8(ascii: "\\"): (current, isEscaped) = (current ?? [], true)
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "@"),
                    UInt8(ascii: "%"), 0x80...:
                    if current == nil { current = [] }
                    current?.append(byte)
                default: return nil
                }
            }
        }
        if isQuoted || isEscaped { return nil }
        if let current { words.append(current) }
        return words
    }

    /// A directory and a name from a client over TCP, separated by a line feed, within the length limit of the
    /// destination policy.
    static func destination(_ input: [UInt8]) throws(BrokenPromise) {
        let input = input.prefix(4096)
        let parts = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let allowed = ["/srv/files", "/", "/srv/e\u{301}"]
        for text in parts {
            if let names = PlaceBelow.names(in: text) {
                try checkBelow("/srv/files", names.map(String.init), text)
                try promise(
                    Paths.join("/srv/files", text).utf8.elementsEqual("/srv/files/\(text)".utf8),
                    "not below by its name: \(text.debugDescription)")
            }
            for place in [text, "/srv/files/\(text)", "/srv/files\(text)", "/srv/\u{E9}/\(text)"] {
                guard Paths.isAbsolute(place) else { continue }
                guard let found = PlaceBelow.root(of: place, among: [allowed[0], allowed[2]]) else { continue }
                try promise(!place.utf8.hasPrefix("/srv/\u{E9}"), "an equivalent name: \(place.debugDescription)")
                try checkBelow(found.root, found.names.map(String.init), place)
                let whole = FilePath(place)
                try promise(
                    whole.lexicallyNormalized()
                        == FilePath(
                            ([found.root] + found.names.map(String.init))
                                .joined(separator: "/")), "another place: \(place.debugDescription)")
            }
        }
        for path in parts where !path.utf8.contains(0) && !path.isEmpty {
            let (parent, name) = (Paths.parent(of: path), Paths.name(of: path))
            if path.utf8.last != UInt8(ascii: "/") {
                try promise(
                    FilePath(path).lastComponent?.string.utf8.elementsEqual(name.utf8) ?? false,
                    "another name: \(path.debugDescription)")
                let above = FilePath(path).removingLastComponent()
                try promise(
                    parent == "." ? above.isEmpty || above == "." : FilePath(parent) == above,
                    "another parent: \(path.debugDescription)")
            }
        }
    }

    /// Checks that each name is one component and not hidden, and that the joined path stays below the root.
    private static func checkBelow(_ root: String, _ names: [String], _ text: String) throws(BrokenPromise) {
        for name in names {
            try promise(
                !name.isEmpty && name.utf8.first != UInt8(ascii: ".") && !name.utf8.contains(UInt8(ascii: "/"))
                    && !name.utf8.contains(UInt8(ascii: "\\")) && !name.utf8.contains(0),
                "\(name.debugDescription) of \(text.debugDescription)")
        }
        let path = FilePath(([root] + names).joined(separator: "/"))
        let (root, whole) = (FilePath(root), path.lexicallyNormalized())
        try promise(
            whole.starts(with: root) && whole.components.count == root.components.count + names.count,
            "outside: \(text.debugDescription)")
    }
}
