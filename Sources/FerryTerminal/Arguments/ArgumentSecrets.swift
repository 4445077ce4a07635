import FerryCore

/// Finds the secrets in a command line: passwords, header values, and user info in URLs and proxies.
///
/// An option is recognised as the parser of its command does: for curl even when other letters precede its own in one word,
/// with letters translated as in ``PastedCommand``; for an ``EmulatedProgram`` by that program's own parser. A word that no
/// parser accepts counts as secret if in doubt, because nothing depends on it.
package enum ArgumentSecrets {
    /// Which part of an option's value is secret.
    package enum Secrecy: Sendable, Hashable {
        case whole
        /// The whole value, except `@FILE`.
        case header
        /// User info before the last `@`.
        case proxy
    }

    /// Returns the byte ranges to hide in each argument.
    ///
    /// - Parameters:
    ///   - program: The name under which the program was started.
    ///   - emulated: The programs that this one replaces.
    package static func ranges(
        in arguments: [[UInt8]], program: String = "ferry", emulating emulated: [EmulatedProgram] = []
    ) -> [[Range<Int>]] {
        let words = arguments.map { String(decoding: $0, as: UTF8.self) }
        var found = ranges(in: arguments, words, emulated)
        if let (selected, own) = emulated.selected(by: program, words) {
            let offset = words.count - own.count
            for secret in selected.secrets(own) {
                let word = secret.word + offset
                found[word] += ranges(of: arguments[word].dropFirst(secret.offset), secret.secrecy)
            }
        }
        return found
    }

    /// Returns the ranges, by the option names of all commands.
    private static func ranges(
        in arguments: [[UInt8]], _ words: [String], _ emulated: [EmulatedProgram]
    ) -> [[Range<Int>]] {
        let command = words.first ?? ""
        let takers = lettersWithValue(of: command).utf8
        var next: Secrecy?
        return zip(arguments, words).map { argument, word in
            if let secrecy = next {
                next = nil
                return ranges(of: argument[...], secrecy)
            }
            if word.utf8.hasPrefix("--") {
                let name = word.utf8.prefix { $0 != UInt8(ascii: "=") }
                let option = String(decoding: name, as: UTF8.self)
                let own = secrecy(named: option, in: command)
                guard let secrecy = own ?? emulated.lazy.compactMap({ $0.secrecy(String(option.dropFirst(2))) }).first
                else { return userInfo(argument[...]) }
                if name.count < argument.count { return ranges(of: argument.dropFirst(name.count + 1), secrecy) }
                next = secrecy
                return []
            }
            if word.utf8.hasPrefix("-") {
                for (index, letter) in argument.enumerated().dropFirst() {
                    guard let secrecy = secrecy(of: letter, in: command) else {
                        if takers.contains(letter) { break }
                        continue
                    }
                    if index + 1 < argument.count { return ranges(of: argument.dropFirst(index + 1), secrecy) }
                    next = secrecy
                    return []
                }
            }
            if word.utf8.hasPrefix("proxy=") { return ranges(of: argument.dropFirst("proxy=".utf8.count), .proxy) }
            return userInfo(argument[...])
        }
    }

    private static let options: [String: Secrecy] = [
        "--user": .whole, "--header": .header, "--cookie": .whole, "--proxy": .proxy, "--password": .whole,
        "--http-user": .whole, "--http-passwd": .whole, "--http-password": .whole, "--proxy-user": .whole,
        "--proxy-password": .whole, "--oauth2-bearer": .whole,
    ]

    /// Returns which part of an option's value is secret. For a pasted command, a prefix of the name is enough.
    private static func secrecy(named name: String, in command: String) -> Secrecy? {
        if let secrecy = options[name] { return secrecy }
        guard let program = PastedOption.Program(rawValue: command) else {
            // A token of a door of the daemon.
            return name.utf8.hasSuffix("-secret") ? .header : nil
        }
        return PastedOption.named(name, of: program)?.names.lazy.compactMap { options[$0] }.first
    }

    /// Returns which part of a letter's value is secret. For a pasted command, the option that the letter stands for decides.
    private static func secrecy(of letter: UInt8, in command: String) -> Secrecy? {
        if let option = PastedCommand.valueOption(of: String(UnicodeScalar(letter)), in: command) {
            return options[option] ?? (option.utf8.count == 2 ? option.utf8.last.flatMap { letters[$0] } : nil)
        }
        return letters[letter]
    }

    private static let letters: [UInt8: Secrecy] = [
        UInt8(ascii: "u"): .whole, UInt8(ascii: "H"): .header, UInt8(ascii: "b"): .whole, UInt8(ascii: "U"): .whole,
    ]

    /// Returns the letters whose value is the rest of their word, by the first word of the command line.
    private static func lettersWithValue(of command: String) -> String {
        switch command {
        case "curl": "xoeACXdFTmrwyYzDEcK"
        case "wget": "OPTUoieAtQRDIlwaB"
        default: "xjodPieACX"
        }
    }

    private static func ranges(of value: ArraySlice<UInt8>, _ secrecy: Secrecy) -> [Range<Int>] {
        switch secrecy {
        case .header where value.first == UInt8(ascii: "@"): []
        case .proxy: proxyUserInfo(value)
        case .header, .whole: value.isEmpty ? [] : [value.indices]
        }
    }

    /// Returns the ranges of user info in a URL with or without a scheme.
    private static func userInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        schemeUserInfo(text) + bareUserInfo(text)
    }

    /// Returns the range up to the last `@` before the first `/`, `?` or `#`, if a `:` precedes it or a path follows: a
    /// URL may lack its scheme. A name before `=` does not belong to the URL.
    private static func bareUserInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        var rest = text
        let name = text.prefix(while: isOfName)
        if name.endIndex < text.endIndex, text[name.endIndex] == UInt8(ascii: "=") {
            rest = text[(name.endIndex + 1)...]
        } else if text.first == UInt8(ascii: "-") {
            return []
        }
        if rest.first == UInt8(ascii: "@") { rest = rest.dropFirst() }
        let end = authorityEnd(rest)
        guard let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) else { return [] }
        let isURL = rest[..<at].contains(UInt8(ascii: ":")) || end < rest.endIndex
        return isURL && at > rest.startIndex ? [rest.startIndex..<at] : []
    }

    /// Whether the byte may occur in the name of an option or a setting.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
        default: UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        }
    }

    /// Returns the index of the `/`, `?` or `#` that ends an authority (RFC 3986 §3.2).
    private static func authorityEnd(_ text: ArraySlice<UInt8>) -> Int {
        let end = text.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return end ?? text.endIndex
    }

    /// Returns the range from `://` to the last `@` of the authority. In a database's URL, it ends at the last `@` of the
    /// text, as in libpq.
    private static func schemeUserInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let start = afterScheme(text) else { return [] }
        let rest = text[start...]
        if text.prefix("postgres".utf8.count).elementsEqual("postgres".utf8, by: { $0 | 0x20 == $1 }) {
            return rest.lastIndex(of: UInt8(ascii: "@")).map { [start..<$0] } ?? []
        }
        guard let at = rest[..<authorityEnd(rest)].lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [start..<at]
    }

    /// Returns the range up to the last `@`, because a proxy's password may contain a `/`.
    private static func proxyUserInfo(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [(afterScheme(text[..<at]) ?? text.startIndex)..<at]
    }

    private static func afterScheme(_ text: ArraySlice<UInt8>) -> Int? {
        let separator = Array("://".utf8)
        return text.indices.first { text[$0...].starts(with: separator) }.map { $0 + separator.count }
    }
}
