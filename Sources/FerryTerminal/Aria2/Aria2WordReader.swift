import FerryCore

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
    /// The unread letters of the last word, because `-cR` is two options.
    private var letters: Substring = ""
    private var endsOptions = false

    init(_ words: [String]) { self.words = words }

    func text(at place: Place) -> String {
        String(decoding: words[place.word].utf8.dropFirst(place.offset), as: UTF8.self)
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
        let name: String
        do throws(Aria2CommandOption.Ambiguous) { name = try Aria2CommandOption.complete(beginning) } catch {
            let hint = error.names.isEmpty ? "" : ": it may be " + error.names.map { "--" + $0 }.joined(separator: ", ")
            throw .option("unrecognized option '--\(beginning)'\(hint)")
        }
        if equals != nil { return .option(name, value: Place(word: index - 1, offset: beginning.utf8.count + 3)) }
        return Aria2CommandOption.find(name)?.value == .flag ? .option(name, value: nil) : try following(name)
    }

    /// Reads `-x16`, `-x 16`, or one of several flags in one word.
    private mutating func readLetter(_ letter: Character) throws(Aria2Failure) -> Element {
        guard let name = Aria2CommandOption.letters[letter] else { throw .option("invalid option -- '\(letter)'") }
        let rest = letters
        let place = Place(word: index - 1, offset: words[index - 1].utf8.count - rest.utf8.count)
        if Aria2CommandOption.find(name)?.value == .flag {
            guard ["true", "false"].contains(where: { rest.hasSameBytes(as: $0) }) else {
                return .option(name, value: nil)
            }
            letters = ""
            return .option(name, value: place)
        }
        letters = ""
        return rest.isEmpty ? try following(name) : .option(name, value: place)
    }

    /// Returns the option with the next word as its value.
    private mutating func following(_ name: String) throws(Aria2Failure) -> Element {
        guard index < words.count else { throw .option("option '--\(name)' requires an argument") }
        index += 1
        return .option(name, value: Place(word: index - 1))
    }
}
