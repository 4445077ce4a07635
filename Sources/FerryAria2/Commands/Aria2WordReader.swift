import FerryCore
import FerryTerminal

/// Reads a command line of aria2c as getopt_long(3) does. Both the options and the secrets to hide from other processes are
/// found with this reader, so that no word is interpreted in two ways.
struct Aria2WordReader {
    /// The position of an option's value: a word, and an offset in bytes.
    struct Place: Hashable {
        var word: Int
        var offset = 0
    }

    enum Element {
        case word(String)
        /// An option by its full name. A flag without a value means `true`.
        case option(String, value: Place?)
    }

    private let words: [String]
    private var index = 0
    /// The unread letters of the last word, which may hold several options, such as `-cR`.
    private var letters: Substring = ""
    private var endsOptions = false

    init(_ words: [String]) { self.words = words }

    func text(at place: Place) -> String {
        String(decoding: words[place.word].utf8.dropFirst(place.offset), as: UTF8.self)
    }

    /// Returns the values of a command line that are secret, up to a word that aria2c refuses.
    static func secrets(in words: [String]) -> [EmulatedProgram.Secret] {
        var reader = Aria2WordReader(words)
        var secrets: [EmulatedProgram.Secret] = []
        while let element = try? reader.next() {
            guard case .option(let name, let place?) = element, let secrecy = Aria2Option.secrecy(of: name) else {
                continue
            }
            secrets.append(EmulatedProgram.Secret(word: place.word, offset: place.offset, secrecy))
        }
        return secrets
    }

    /// Returns the next element; `nil` at the end.
    mutating func next() throws(Aria2Failure) -> Element? {
        while letters.isEmpty {
            guard index < words.count else { return nil }
            let word = words[index]
            index += 1
            if endsOptions { return .word(word) }
            if word == "--" {
                endsOptions = true
            } else if let text = word.dropping(prefix: "--") {
                return try readLong(text)
            } else if word.utf8.hasPrefix("-"), word != "-" {
                letters = word.dropFirst()
            } else {
                return .word(word)
            }
        }
        return try readLetter(letters.removeFirst())
    }

    private mutating func readLong(_ text: Substring) throws(Aria2Failure) -> Element {
        let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
        let beginning = String(text[..<(equals ?? text.endIndex)])
        let option: Aria2Option
        do throws(Aria2Option.Ambiguous) { option = try .beginning(with: beginning) } catch {
            let hint = error.names.isEmpty ? "" : ": it may be " + error.names.map { "--" + $0 }.joined(separator: ", ")
            throw .option("unrecognized option '--\(beginning)'\(hint)")
        }
        if equals != nil {
            return .option(option.name, value: Place(word: index - 1, offset: beginning.utf8.count + 3))
        }
        return option.form == .flag ? .option(option.name, value: nil) : try following(option.name)
    }

    /// Reads `-x16`, `-x 16`, or one of several flags in one word.
    private mutating func readLetter(_ letter: Character) throws(Aria2Failure) -> Element {
        guard let option = Aria2Option.with(letter: letter) else { throw .option("invalid option -- '\(letter)'") }
        let rest = letters
        let place = Place(word: index - 1, offset: words[index - 1].utf8.count - rest.utf8.count)
        if option.form == .flag {
            guard ["true", "false"].contains(where: { rest.hasSameBytes(as: $0) }) else {
                return .option(option.name, value: nil)
            }
            letters = ""
            return .option(option.name, value: place)
        }
        letters = ""
        return rest.isEmpty ? try following(option.name) : .option(option.name, value: place)
    }

    /// Returns the option with the next word as its value.
    private mutating func following(_ name: String) throws(Aria2Failure) -> Element {
        guard index < words.count else { throw .option("option '--\(name)' requires an argument") }
        index += 1
        return .option(name, value: Place(word: index - 1))
    }
}
