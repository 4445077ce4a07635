import FerryCore

extension FuzzTarget {
    /// The value of a Content-Disposition field, also used as a name, a URL segment and part of another field.
    static func contentDisposition(_ input: [UInt8]) throws(BrokenPromise) {
        let field = String(decoding: input, as: UTF8.self)
        guard let first = try? DownloadURL("http://example.com/"),
            let second = try? DownloadURL("http://example.com/\(percentEncoded(input))?a")
        else { return }
        let given = ContentDisposition.fileName(field)
        if let given { try promise(!given.isEmpty && !given.unicodeScalars.contains("\u{FFFD}"), "no name: \(given)") }
        try checkSafe(SafeName.make(given, url: first, finalURL: nil))
        try checkSafe(SafeName.make(nil, url: first, finalURL: second))
        if let name = SafeName.sanitize(field) { try checkSafe(name) }

        // A correctly encoded name is decoded to the same bytes.
        guard !input.isEmpty, input.count <= 4096, let text = String(validating: input, as: UTF8.self),
            !text.unicodeScalars.contains("\u{FFFD}")
        else { return }
        let read = ContentDisposition.fileName("attachment; filename=x; filename*=UTF-8''\(percentEncoded(input))")
        try promise(
            read.map { $0.utf8.elementsEqual(input) } ?? false, "\(text.debugDescription) came as \(read ?? "-")")
    }

    /// Checks that a name is valid in a directory on any system, and not reserved by Ferry.
    static func checkSafe(_ name: String) throws(BrokenPromise) {
        let shown = name.debugDescription
        try promise(!name.isEmpty && name.utf8.count <= SafeName.maxBytes, "\(name.utf8.count) bytes: \(shown)")
        try promise(
            !name.unicodeScalars.contains { "/\\<>:\"|?*\u{FFFD}".unicodeScalars.contains($0) }, "unsafe: \(shown)")
        try promiseOneLine(name)
        try promise(!name.utf8.hasPrefix("-") && !name.utf8.hasPrefix("."), "hidden, or an option: \(shown)")
        try promise(
            Array("/" + name).first.map { String($0).utf8.count == 1 } ?? false,
            "joined to what is before: \(shown)")
        try promise(
            name.unicodeScalars.last.map { $0 != "." && !$0.properties.isWhitespace } ?? false, "end of \(shown)")
        let lower = name.lowercased()
        for suffix in [".part", ".ferry", ".old"] {
            try promise(!lower.utf8.hasSuffix(suffix), "a name of ours: \(shown)")
        }
        try promise((try? ExactName.check(name)) != nil, "not a file's name: \(shown)")
        try promise(
            SafeName.sanitize(name).map { $0.utf8.elementsEqual(name.utf8) } ?? false, "made safe twice: \(shown)")
        for number in [2, 999] {
            let numbered = SafeName.numbered(name, number)
            try promise((try? ExactName.check(numbered)) != nil, "not a file's name: \(numbered.debugDescription)")
            try promise(!numbered.utf8.elementsEqual(name.utf8), "the same with a number: \(shown)")
            try promise(numbered.utf8.count <= 255 - ".part.ferry.old".utf8.count, "too long: \(numbered)")
        }
    }

    /// Bytes in GB 18030.
    static func gb18030(_ input: [UInt8]) throws(BrokenPromise) {
        guard !input.isEmpty, input.count <= 4096 else { return }
        let whole = decoded(input[...])
        if input.allSatisfy({ $0 < 0x80 }) {
            try promise(whole.map { $0.utf8.elementsEqual(input) } ?? false, "ASCII became \(whole ?? "-")")
        }
        if let whole { try promise(whole.unicodeScalars.count <= input.count, "more characters than bytes") }
        // Decoding in two pieces gives the same result as decoding at once.
        let middle = Int(input[0]) % input.count
        if middle > 0, let head = decoded(input[..<middle]), let tail = decoded(input[middle...]) {
            let joined = Array(head.unicodeScalars) + Array(tail.unicodeScalars)
            try promise(whole.map { Array($0.unicodeScalars) } == joined, "\(head) and \(tail) became \(whole ?? "-")")
        }
        // Without a charset, UTF-8 takes precedence.
        let plain = ContentDisposition.fileName("attachment; filename=\"\(percentEncoded(input))\"")
        if let text = String(validating: input, as: UTF8.self), !text.unicodeScalars.contains("\u{FFFD}") {
            try promise(plain.map { $0.utf8.elementsEqual(input) } ?? false, "UTF-8 became \(plain ?? "-")")
        }
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        ContentDisposition.fileName("attachment; filename*=GB18030''\(percentEncoded(Array(bytes)))")
    }

    static func percentEncoded(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in bytes { encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: encoded, as: UTF8.self)
    }
}
