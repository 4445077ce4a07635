/// The ASCII form of internationalized labels (RFC 3492, RFC 5891 §4.4).
enum Punycode {
    /// Returns an ASCII label as it is, else `xn--…`; `nil` when it exceeds the length of a label.
    static func label(_ label: String) -> String? {
        let scalars = Array(label.unicodeScalars)
        if scalars.allSatisfy(\.isASCII) { return label }
        // Each scalar outside ASCII takes at least one byte, so a longer label cannot fit into 63.
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
