/// The mapping of domain names before a lookup: the common part of UTS #46.
///
/// Converts to lower case, maps full-width forms to ASCII and ideographic full stops to dots, removes soft hyphens and
/// similar characters, and composes letters with their marks. Other compatibility forms stay unchanged, so such names
/// are not found.
enum DomainMapping {
    /// Returns the labels between dots, including empty ones, in lower case and composed. Throws if a label contains a
    /// character that is not permitted, or begins with a combining mark.
    static func labels(_ text: String) throws(DownloadURL.Defect) -> [String] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return try checked(ASCII.lowercased(text)) }
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x3002, 0xFF0E, 0xFF61: mapped.append(".")
            case 0x00AD, 0x200B, 0x2060, 0xFEFF, 0xFE00...0xFE0F: continue
            case 0xFF01...0xFF5E: mapped.append(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)))
            default: mapped.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return try checked(ASCII.lowercased(composed(String(mapped))))
    }

    private static func checked(_ text: String) throws(DownloadURL.Defect) -> [String] {
        for scalar in text.unicodeScalars where !isAllowed(scalar) {
            throw DownloadURL.Defect(.urlHostCharacter)
        }
        let labels = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        for case let first? in labels.map(\.first) where isMark(first) {
            throw DownloadURL.Defect(.urlHostCharacter)
        }
        return labels.map { String($0) }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            return ASCII.isDigit(byte) || ASCII.isLetter(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
        switch scalar.properties.generalCategory {
        case .format: return scalar.value == 0x200C || scalar.value == 0x200D  // joiners, which some scripts need
        case .control, .privateUse, .surrogate, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            return false
        default: return scalar.value != 0xFFFD
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Composes base letters and marks if one scalar is equivalent (NFC, for scripts that compose).
    static func composed(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        for character in text {
            var scalars = Array(character.unicodeScalars)
            // `Character` compares by canonical equivalence, so the scalar that equals a base and its mark is their
            // composition.
            while scalars.count > 1, let joined = composition(scalars[0], scalars[1]) {
                scalars.replaceSubrange(0..<2, with: [joined])
            }
            output.append(contentsOf: scalars)
        }
        return String(output)
    }

    private static func composition(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        if let syllable = hangul(first.value, second.value) { return syllable }
        switch first.value {
        case 0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF, 0x3040...0x30FF:
            return compositions[String(String.UnicodeScalarView([first, second]))]
        default: return nil
        }
    }

    /// Compositions of letters and marks in these scripts, keyed by the composed scalar. A lookup by the pair works because
    /// canonically equivalent strings have equal hashes. Of several equivalent scalars, the first is used. A linear search for
    /// each pair would make long names of such pairs slow to parse.
    private static let compositions: [String: Unicode.Scalar] = {
        let blocks: [ClosedRange<UInt32>] = [
            0xC0...0x24F, 0x1E00...0x1EFF, 0x370...0x52F, 0x1F00...0x1FFF, 0x3040...0x30FF,
        ]
        let scalars = blocks.joined().compactMap { Unicode.Scalar($0) }
        return Dictionary(scalars.map { (String(Character($0)), $0) }) { first, _ in first }
    }()

    /// Composes a Hangul syllable (Unicode §3.12) from a leading consonant and a vowel, or from a syllable and a trailing
    /// consonant.
    private static func hangul(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
        if (0x1100...0x1112).contains(first), (0x1161...0x1175).contains(second) {
            return Unicode.Scalar(0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28)
        }
        if (0xAC00...0xD7A3).contains(first), (first - 0xAC00) % 28 == 0, (0x11A8...0x11C2).contains(second) {
            return Unicode.Scalar(first + second - 0x11A7)
        }
        return nil
    }
}

/// The ASCII form of internationalized labels (RFC 3492, RFC 5891 §4.4).
enum Punycode {
    /// Returns an ASCII label as it is, any other as `xn--…`; `nil` if it exceeds the maximum length of a label.
    static func label(_ label: String) -> String? {
        let scalars = Array(label.unicodeScalars)
        if scalars.allSatisfy(\.isASCII) { return label }
        // Each non-ASCII scalar takes at least one byte, so a longer label cannot fit into 63.
        guard scalars.count <= 63 else { return nil }
        return "xn--" + encode(scalars.map(\.value))
    }

    /// RFC 3492 §6.3. With at most 63 scalars, delta stays below 63 · 0x110000: no overflow in Int.
    private static func encode(_ input: [UInt32]) -> String {
        var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var codePoint: UInt32 = 0x80
        var delta = 0
        var bias = 72
        while handled < input.count {
            guard let next = input.filter({ $0 >= codePoint }).min() else { break }
            delta += Int(next - codePoint) * (handled + 1)
            codePoint = next
            for value in input {
                if value < codePoint { delta += 1 }
                guard value == codePoint else { continue }
                appendNumber(delta, bias: bias, to: &output)
                bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            codePoint += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func appendNumber(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var rest = number
        var position = 36
        while true {
            let threshold = min(max(position - bias, 1), 26)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var bias = 0
        while rest > 455 {
            rest /= 35
            bias += 36
        }
        return bias + 36 * rest / (rest + 38)
    }

    /// 0…25 are letters, 26…35 digits.
    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26) }
}
