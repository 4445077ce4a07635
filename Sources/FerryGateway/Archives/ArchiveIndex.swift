import FerryCore

/// The digests in an index of a Debian archive: `Packages` and `Sources` for packages, `Release` for indexes. Pure.
package enum ArchiveIndex {
    /// The kind of an index.
    package enum Kind: Sendable, Hashable {
        /// `Packages` and `Sources`, with paths relative to the archive.
        case packages
        /// `Release` and `InRelease`, with paths relative to their own directory.
        case release

        /// Determines the kind from the path below the archive; `nil` if the file is not an index.
        package init?(_ path: some StringProtocol) {
            let parts = path.split(at: "/")
            guard let name = parts.last, parts.first?.hasSameBytes(as: "dists") == true, parts.count > 2 else {
                return nil
            }
            let stem = name.split(at: ".").first ?? name
            if name.hasSameBytes(as: "Release") || name.hasSameBytes(as: "InRelease") {
                self = .release
            } else if stem.hasSameBytes(as: "Packages") || stem.hasSameBytes(as: "Sources") {
                guard name.split(at: ".").count <= 2 else { return nil }
                self = .packages
            } else if parts.dropLast().suffix(2).elementsEqual(["by-hash", "SHA256"]),
                let directory = parts.dropLast(3).last,
                directory.utf8.hasPrefix("binary-") || directory.hasSameBytes(as: "source")
            {
                self = .packages
            } else {
                return nil
            }
        }
    }

    /// A file and its SHA-256.
    package struct Entry: Sendable, Hashable {
        package var path: [UInt8]
        package var digest: [UInt8]

        package init(path: [UInt8], digest: [UInt8]) { (self.path, self.digest) = (path, digest) }
    }

    /// Reads an index piece by piece.
    package struct Reader {
        private let kind: Kind
        /// The beginning of a line whose end has not been received.
        private var line: [UInt8] = []
        /// Whether the line exceeds the maximum length, so that its rest is skipped.
        private var isSkipped = false
        private var filename: [UInt8]?
        private var digest: [UInt8]?
        private var directory: [UInt8]?
        private var sources: [Entry] = []
        /// Whether the continuation lines of the current field list files.
        private var isInList = false

        private static let mostLine = 16 << 10
        private static let mostSources = 1000

        package init(_ kind: Kind) { self.kind = kind }

        /// Reads the next piece of the text. Calls `found` with each file whose entry is complete.
        package mutating func read(_ piece: [UInt8], _ found: (Entry) -> Void) {
            var rest = piece[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if line.isEmpty, !isSkipped {
                    take(rest[..<end], found)
                } else {
                    keep(rest[..<end])
                    let whole = line
                    line = []
                    if !isSkipped { take(whole[...], found) }
                    isSkipped = false
                }
                rest = rest[(end + 1)...]
            }
            keep(rest)
        }

        /// Reads the end of the text.
        package mutating func finish(_ found: (Entry) -> Void) {
            if !isSkipped, !line.isEmpty { take(line[...], found) }
            endStanza(found)
        }

        private mutating func keep(_ part: ArraySlice<UInt8>) {
            guard !isSkipped, line.count + part.count <= Self.mostLine else {
                (line, isSkipped) = ([], true)
                return
            }
            line += part
        }

        private mutating func take(_ whole: ArraySlice<UInt8>, _ found: (Entry) -> Void) {
            let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
            guard let first = line.first else {
                // The signed text may begin after an empty line.
                if kind == .packages { endStanza(found) }
                return
            }
            if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
                guard isInList else { return }
                let words = line.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
                guard words.count == 3, let digest = Self.digest(words[0]) else { return }
                let entry = Entry(path: Array(words[2]), digest: digest)
                if kind == .release { found(entry) } else if sources.count < Self.mostSources { sources.append(entry) }
                return
            }
            isInList = false
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            let name = line[..<colon]
            func value() -> [UInt8] {
                var value = line[(colon + 1)...]
                while value.first == UInt8(ascii: " ") || value.first == UInt8(ascii: "\t") {
                    value = value.dropFirst()
                }
                while value.last == UInt8(ascii: " ") || value.last == UInt8(ascii: "\t") { value = value.dropLast() }
                return Array(value)
            }
            switch kind {
            case .release: isInList = Self.is(name, "sha256")
            case .packages:
                // Most lines belong to other fields.
                switch first | 0x20 {
                case UInt8(ascii: "f") where Self.is(name, "filename"): filename = value()
                case UInt8(ascii: "s") where Self.is(name, "sha256"): digest = Self.digest(value()[...])
                case UInt8(ascii: "d") where Self.is(name, "directory"): directory = value()
                case UInt8(ascii: "c") where Self.is(name, "checksums-sha256"): isInList = true
                default: break
                }
            }
        }

        private mutating func endStanza(_ found: (Entry) -> Void) {
            defer { (filename, digest, directory, sources, isInList) = (nil, nil, nil, [], false) }
            if let filename, let digest { found(Entry(path: filename, digest: digest)) }
            guard let directory, !sources.isEmpty else { return }
            let isRoot = directory.elementsEqual(".".utf8)
            for source in sources {
                let path = isRoot ? source.path : directory + [UInt8(ascii: "/")] + source.path
                found(Entry(path: path, digest: source.digest))
            }
        }

        private static func digest(_ word: ArraySlice<UInt8>) -> [UInt8]? {
            word.count == 64 ? HexText.bytes(word) : nil
        }

        /// Whether a field's name equals `word`, ignoring case. `word` is lowercase.
        private static func `is`(_ name: ArraySlice<UInt8>, _ word: String) -> Bool {
            name.lazy.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }.elementsEqual(word.utf8)
        }
    }
}
