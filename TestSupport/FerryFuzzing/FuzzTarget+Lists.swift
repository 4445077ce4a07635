import FerryAPI
import FerryCore
import HTTPTypes

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The entries and problems of a list that arrives in pieces.
private struct WholeList: Equatable {
    var entries: [URLList.Entry] = []
    var problems: [URLList.Problem] = []

    init(_ bytes: [UInt8], pieceBytes: Int) {
        var list = URLList { try? JSONValue(Data($0)) }
        var rest = bytes[...]
        while !rest.isEmpty {
            list.append(rest.prefix(pieceBytes))
            rest = rest.dropFirst(pieceBytes)
            drain(&list)
        }
        list.finish()
        drain(&list)
    }

    private mutating func drain(_ list: inout URLList) {
        while let item = list.next() {
            switch item {
            case .entry(let entry): entries.append(entry)
            case .problem(let problem): problems.append(problem)
            }
        }
    }
}

extension FuzzTarget {
    static func urlList(_ input: [UInt8]) throws(BrokenPromise) {
        let list = WholeList(input, pieceBytes: .max)
        try promise(list == WholeList(input, pieceBytes: 1), "pieces of one byte are parsed to another list")
        let lineCount = input.count { $0 == 0x0A } + 1
        var line = 0
        for entry in list.entries {
            try promise(entry.line > line && entry.line <= lineCount, "the line \(entry.line) after \(line)")
            line = entry.line
            try promise(Set(entry.urls).count == entry.urls.count && !entry.urls.isEmpty, "\(entry.urls)")
            for url in entry.urls { try checkForm(of: url) }
            for field in entry.headers { try promiseFieldValue(field.value) }
            for path in [entry.out, entry.dir].compactMap(\.self) {
                try promise(!path.isEmpty && !path.utf8.contains(0), "the path \(path.debugDescription)")
            }
            if let sum = entry.checksum { try check(sum) }
        }
        for problem in list.problems {
            try promise((1...lineCount).contains(problem.line), "a problem in line \(problem.line) of \(lineCount)")
            try promiseOneLine(problem.message)
        }
        try checkWrittenAgain(list)
    }

    /// Checks that a list written from the parsed entries is parsed to the same entries.
    private static func checkWrittenAgain(_ list: WholeList) throws(BrokenPromise) {
        // User info is not written.
        let entries = list.entries.filter { $0.urls.allSatisfy { $0.credentials == nil } }
        var text = ""
        for entry in entries {
            let columns = entry.columns?.items ?? []
            text += (entry.urls.map(\.text) + columns.map { $0.string ?? "" }).joined(separator: "\t") + "\n"
            if let out = entry.out { text += " out=\(out)\n" }
            if let dir = entry.dir { text += " dir=\(dir)\n" }
            if let checksum = entry.checksum { text += " checksum=\(checksum)\n" }
            for field in entry.headers { text += " header=\(field.name.rawName): \(field.value)\n" }
        }
        let again = WholeList(Array(text.utf8), pieceBytes: 7)
        try promise(again.problems.isEmpty, "\(again.problems) in \(text.debugDescription)")
        try promise(again.entries.count == entries.count, "\(again.entries.count) entries in \(text.debugDescription)")
        for (var entry, var other) in zip(entries, again.entries) {
            other.line = entry.line
            // Named columns occur only in lists of JSON lines, which this check does not write.
            if entry.columns?.members != nil { entry.columns = nil }
            try promise(other == entry, "\(entry) became \(other)")
        }
    }

    static func checksumList(_ input: [UInt8]) throws(BrokenPromise) {
        let list = ChecksumList(String(decoding: input, as: UTF8.self))
        try promise(list.entries.count <= input.count { $0 == 0x0A } + 1, "more entries than lines")
        _ = list.checksum(for: "file.iso")
        for entry in list.entries.prefix(8) {
            try check(entry.checksum)
            guard let name = entry.name else { continue }
            try promise(!name.isEmpty, "a digest for an empty name")
            // `nil` if lines contradict each other.
            if let found = list.checksum(for: name) {
                try promise(list.entries.contains { $0.checksum == found }, "a digest of no line: \(found)")
            }
            let escaped = name.unicodeScalars.map { scalar in
                switch scalar {
                case "\\": "\\\\"
                case "\n": "\\n"
                case "\r": "\\r"
                default: String(scalar)
                }
            }
            // Names that consist of white space can be written only with a tag.
            if name.utf8.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { continue }
            let line = "\\\(entry.checksum.hex)  \(escaped.joined())"
            try promise(ChecksumList(line).entries == [entry], "not read again: \(line.debugDescription)")
        }
        if let sum = try? Checksum(parsing: String(decoding: input, as: UTF8.self)) { try check(sum) }
    }

    static func netrc(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        var read: Netrc?
        do {
            read = try Netrc(text)
        } catch {
            try promiseOneLine(error.message)
            let lineCount = input.count { $0 == 0x0A } + 1
            try promise(
                error.line.map { (1...lineCount).contains($0) } ?? false, "line \(error.line ?? 0) of \(lineCount)")
        }
        if let found = read?.credentials(for: "example.com", user: "me") {
            try promise(found.user == "me", "\(found.user) where me was asked for")
        }

        // Any two words survive quoting and parsing.
        let middle = text.unicodeScalars.index(text.unicodeScalars.startIndex, offsetBy: text.unicodeScalars.count / 2)
        let (user, password) = (String(text.unicodeScalars[..<middle]), String(text.unicodeScalars[middle...]))
        let written = "machine h login \(quoted(user)) password \(quoted(password))"
        guard let again = (try? Netrc(written))?.credentials(for: "H") else {
            throw BrokenPromise(description: "not read again: \(written.debugDescription)")
        }
        try promise(
            again.user.utf8.elementsEqual(user.utf8) && again.password.utf8.elementsEqual(password.utf8),
            "other words: \(written.debugDescription)")
    }

    private static func quoted(_ word: String) -> String {
        var quoted = "\""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\n": quoted += "\\n"
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
