import FerryCore

/// What NetworkManager's tools print.
enum NetworkManagerText {
    static let service = "org.freedesktop.NetworkManager"
    static let object = "/org/freedesktop/NetworkManager"

    /// `busctl get-property SERVICE OBJECT INTERFACE Metered`.
    static let question = ["--system", "--timeout=1", "get-property", service, object, service, "Metered"]
    /// `gdbus monitor`, which prints a line for each signal.
    static let subscription = ["monitor", "--system", "--dest", service, "--object-path", object]

    /// The answer to ``question``: `u 4`; also as a variant, `v u 4`. `nil` when it is none.
    static func answer(_ text: String) -> MeteredAnswer? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 2, words[words.count - 2] == "u", words.count == 2 || words == ["v", "u", words[2]] else {
            return nil
        }
        return words.last.flatMap { Int($0) }.flatMap(MeteredAnswer.init(rawValue:))
    }

    /// What a line of the subscription says.
    enum Notice: Equatable {
        case metered(MeteredAnswer)
        /// It has changed, to what is to be asked for: it is there now, or took its value back.
        case ask
        /// It is not there any more.
        case gone
        /// Nothing of use.
        case other
    }

    /// Reads one line, without its end.
    static func notice(_ line: String) -> Notice {
        if line.utf8.hasPrefix("The name \(service) ") {
            if line.utf8.hasSuffix("does not have an owner") { return .gone }
            return line.utf8.contains(" is owned by ") ? .ask : .other
        }
        guard line.utf8.hasPrefix("\(object): "), line.utf8.contains(".PropertiesChanged ("),
            let name = line.utf8.firstRange(of: "'Metered'")
        else { return .other }
        var value = line[name.upperBound...]
        for prefix in [": <", "uint32 "] { value = value.dropping(prefix: prefix) ?? value }
        guard let number = value.split(at: ">", omittingEmptySubsequences: false).first.flatMap({ Int($0) }) else {
            return .ask
        }
        return .metered(MeteredAnswer(rawValue: number) ?? .unknown)
    }
}
