import FerryCore

extension FuzzTarget {
    static func metalink(_ input: [UInt8]) throws(BrokenPromise) {
        let items: [URLList.Item]
        do throws(TextError) { items = try Metalink(parsing: input).items } catch { return }
        try promise(Metalink.isDocument(input), "a document that is read as a list of URLs")
        var line = 1
        for item in items {
            switch item {
            case .problem(let problem):
                try promiseOneLine(problem.message)
                try promise(problem.line >= line, "line \(problem.line) after \(line)")
            case .entry(let entry):
                try promise(entry.line >= line, "line \(entry.line) after \(line)")
                line = entry.line
                try promise(Set(entry.urls).count == entry.urls.count && !entry.urls.isEmpty, "\(entry.urls)")
                for url in entry.urls { try checkForm(of: url) }
                if let checksum = entry.checksum { try check(checksum) }
                try promise(entry.size?.isSize ?? true, "a size of \(entry.size ?? 0)")
                let names = (entry.out ?? "").split(at: "/", omittingEmptySubsequences: false)
                try promise(
                    names.allSatisfy { SafeName.sanitize(String($0))?.hasSameBytes(as: $0) == true },
                    "the name \(entry.out ?? "")")
            }
        }
    }

    static func xml(_ input: [UInt8]) throws(BrokenPromise) {
        let limits = PlainXML.Limits(bytes: 100_000, nodes: 2000, depth: 16)
        let root: PlainXML
        do throws(TextError) { root = try PlainXML(parsing: input, limits: limits) } catch {
            try promiseOneLine(error.message)
            let lineCount = input.count { $0 == 0x0A } + 1
            try promise(
                error.line.map { (1...lineCount).contains($0) } ?? (input.count > limits.bytes),
                "line \(error.line ?? 0) of \(lineCount)")
            return
        }
        try promise(input.count <= limits.bytes, "a document of \(input.count) bytes")
        var nodeCount = 0
        let plain = try checked(root, depth: 1, after: 1, limits, &nodeCount)
        try promise(nodeCount <= limits.nodes, "\(nodeCount) elements and attributes")
        guard let again = try? PlainXML(parsing: plain.document.utf8) else {
            throw BrokenPromise(description: "not read again: \(plain.document.debugDescription)")
        }
        try promise(try checked(again, depth: 1, after: 1, .init(), &nodeCount) == plain, "another tree: \(plain)")
    }

    /// Checks an element and its descendants. Returns the tree without line numbers.
    private static func checked(
        _ element: PlainXML, depth: Int, after line: Int, _ limits: PlainXML.Limits, _ nodeCount: inout Int
    ) throws(BrokenPromise) -> PlainXML {
        try promise(depth <= limits.depth, "\(depth) elements in each other")
        try promise(!element.name.isEmpty && !element.name.utf8.contains(UInt8(ascii: ":")), "the name \(element.name)")
        try promise(element.line >= line, "line \(element.line) after \(line)")
        nodeCount += 1 + element.attributes.count
        for text in [element.text] + element.attributes.values {
            let isPermitted = text.unicodeScalars.allSatisfy { scalar in
                scalar.value >= 0x20 && scalar != "\u{FFFE}" && scalar != "\u{FFFF}"
                    || [0x09, 0x0A, 0x0D].contains(scalar.value)
            }
            try promise(isPermitted, "the characters of \(text.debugDescription)")
        }
        var plain = element
        plain.line = 0
        plain.children = []
        for child in element.children {
            plain.children.append(try checked(child, depth: depth + 1, after: element.line, limits, &nodeCount))
        }
        return plain
    }
}
