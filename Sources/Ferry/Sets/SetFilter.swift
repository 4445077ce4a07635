public import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Selects files of a set by patterns, size and date. In a pattern, `*` stands for any number of characters of a name, `?` for one
/// character of a name, and `**` for any number of characters, including `/`. A pattern that ends with `/` matches directories, and
/// so every file below them. A pattern that begins with `/` is a path below the directory of the set, even without another slash.
public struct SetFilter: Sendable, Hashable {
    /// The patterns of which a path must match at least one; if empty, all paths match.
    public var include: [String]
    /// The patterns that a path must not match.
    public var exclude: [String]
    /// The size that a file must exceed; `nil` for no limit. A file whose size the list does not state is accepted.
    public var largerThan: ByteCount?
    /// The size that a file must stay below; `nil` for no limit. A file whose size the list does not state is accepted.
    public var smallerThan: ByteCount?
    /// The maximum age of a file; `nil` for no limit. A file whose date the list does not state is accepted.
    public var newerThan: Duration?
    /// The minimum age of a file; `nil` for no limit. A file whose date the list does not state is accepted.
    public var olderThan: Duration?

    public init(include: [String] = [], exclude: [String] = []) {
        (self.include, self.exclude) = (include, exclude)
    }

    /// Whether the filter depends on sizes or dates, which are known only for listed files.
    package var hasBounds: Bool {
        largerThan != nil || smallerThan != nil || newerThan != nil || olderThan != nil
    }

    /// Whether the file is selected by its path, size and date.
    func accepts(_ entry: SetEntry, now: Date) -> Bool {
        guard accepts(entry.path) else { return false }
        if let bytes = entry.totalBytes ?? entry.row?.nearBytes {
            if let largerThan, bytes <= largerThan { return false }
            if let smallerThan, bytes >= smallerThan { return false }
        }
        let stated = entry.lastModified.flatMap { HTTPDate.parse($0) ?? RFC3339.date($0) }
        let written = entry.file.map { Date(timeIntervalSince1970: $0.modified.secondsSince1970) }
        if let date = stated ?? entry.row?.date ?? written {
            let age = now.timeIntervalSince(date)
            if let newerThan, age > Double(newerThan.components.seconds) { return false }
            if let olderThan, age < Double(olderThan.components.seconds) { return false }
        }
        return true
    }

    /// Whether the paths of all files are wanted.
    var isEmpty: Bool { include.isEmpty && exclude.isEmpty }

    /// Whether the path is selected. A pattern with `/` before its end is compared with the path, any other pattern with the name
    /// of the file or directory.
    public func accepts(_ path: String) -> Bool {
        let directories = Self.directories(of: path)
        func isMatch(_ pattern: String) -> Bool { Self.matches(path, directories, pattern) }
        return (include.isEmpty || include.contains(where: isMatch)) && !exclude.contains(where: isMatch)
    }

    /// Whether the pattern matches the path of a file, or one of the directories above it.
    static func matches(_ path: String, _ pattern: String) -> Bool {
        matches(path, directories(of: path), pattern)
    }

    private static func matches(_ path: String, _ directories: [String], _ pattern: String) -> Bool {
        let rooted = pattern.dropping(prefix: "/")
        let (text, isOfPath) = (rooted ?? pattern[...], rooted == nil ? nil : true)
        guard let directory = text.dropping(suffix: "/") else { return isMatch(path, text, isOfPath: isOfPath) }
        return directories.contains { isMatch($0, directory, isOfPath: isOfPath) }
    }

    /// Whether no file below the directory can be selected, so that its listing need not be read.
    func prunes(_ directory: String) -> Bool {
        let directories = Self.directories(of: directory) + [directory]
        return exclude.contains { pattern in
            let rooted = pattern.dropping(prefix: "/")
            let text = rooted ?? pattern[...]
            guard let name = text.dropping(suffix: "/") ?? text.dropping(suffix: "/**") ?? text.dropping(suffix: "/***")
            else { return false }
            // `dir/**` is compared with the path, even without another slash.
            let isOfPath = rooted != nil || text.utf8.last == UInt8(ascii: "*") || name.utf8.contains(UInt8(ascii: "/"))
            return directories.contains { Self.isMatch($0, name, isOfPath: isOfPath) }
        }
    }

    /// The directories above a path, the outermost first.
    private static func directories(of path: String) -> [String] {
        var directories: [String] = []
        for name in path.split(at: "/").dropLast() {
            directories.append(directories.last.map { "\($0)/\(name)" } ?? String(name))
        }
        return directories
    }

    private static func isMatch(_ path: String, _ pattern: Substring, isOfPath: Bool? = nil) -> Bool {
        let isOfPath = isOfPath ?? pattern.utf8.contains(UInt8(ascii: "/"))
        return matches(Array((isOfPath ? path : Paths.name(of: path)).utf8)[...], Array(pattern.utf8)[...])
    }

    /// Takes time that is linear in the text for each star: after a mismatch, only the last star is tried again.
    private static func matches(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        let slash = UInt8(ascii: "/")
        var (at, of) = (text.startIndex, pattern.startIndex)
        /// The position to continue from after a mismatch: after the last star, which then matches one more byte.
        var (star, taken): (Int?, Int) = (nil, text.startIndex)
        var (wide, wideTaken): (Int?, Int) = (nil, text.startIndex)
        /// Whether the double star is `**/`, which matches whole directories.
        var isOfDirectories = false
        while true {
            if of < pattern.endIndex, pattern[of] == UInt8(ascii: "*") {
                let next = pattern.index(after: of)
                if next < pattern.endIndex, pattern[next] == UInt8(ascii: "*") {
                    of = pattern.index(after: next)
                    // `**/` also matches zero directories.
                    isOfDirectories =
                        of < pattern.endIndex && pattern[of] == slash
                        && (at == text.startIndex || text[at - 1] == slash)
                    if isOfDirectories { of += 1 }
                    (wide, wideTaken, star) = (of, at, nil)
                } else {
                    (star, taken) = (next, at)
                    of = next
                }
                continue
            }
            if at == text.endIndex, of == pattern.endIndex { return true }
            if at < text.endIndex, of < pattern.endIndex,
                pattern[of] == text[at] || (pattern[of] == UInt8(ascii: "?") && text[at] != slash)
            {
                (at, of) = (at + 1, of + 1)
            } else if let back = star, taken < text.endIndex, text[taken] != slash {
                taken += 1
                (at, of) = (taken, back)
            } else if let back = wide, wideTaken < text.endIndex {
                repeat {
                    wideTaken += 1
                } while isOfDirectories && wideTaken < text.endIndex
                    && text[wideTaken - 1] != slash
                if isOfDirectories, text[wideTaken - 1] != slash { return false }
                (at, of, star) = (wideTaken, back, nil)
            } else {
                return false
            }
        }
    }
}
