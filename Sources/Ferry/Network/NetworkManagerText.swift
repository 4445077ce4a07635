import FerryCore

/// The arguments and output of NetworkManager's tools.
enum NetworkManagerText {
    static let service = "org.freedesktop.NetworkManager"
    static let object = "/org/freedesktop/NetworkManager"

    /// The arguments of `busctl get-property SERVICE OBJECT INTERFACE Metered`.
    static let question = ["--system", "--timeout=1", "get-property", service, object, service, "Metered"]
    /// The arguments of `gdbus monitor`, which prints a line for each signal.
    static let subscription = ["monitor", "--system", "--dest", service, "--object-path", object]

    /// The answer to ``question``: `u 4`, or `v u 4` as a variant; `nil` if the text is not an answer.
    static func answer(_ text: String) -> MeteredAnswer? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 2, words[words.count - 2] == "u", words.count == 2 || words == ["v", "u", words[2]] else {
            return nil
        }
        return words.last.flatMap { Int($0) }.flatMap(MeteredAnswer.init(rawValue:))
    }

    /// The meaning of a line of the subscription.
    enum Notice: Equatable {
        case metered(MeteredAnswer)
        /// The property must be queried: NetworkManager has started, or the value was invalidated.
        case ask
        /// NetworkManager has stopped.
        case gone
        /// An irrelevant line.
        case other
    }

    /// Parses a line without its line break.
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

/// The programs for querying NetworkManager: paths, or names to look up in `PATH`; `nil` for none.
package struct NetworkManagerTools: Sendable, Hashable {
    /// Reads a property; without it, NetworkManager counts as absent.
    package var busctl: String?
    /// Prints changes of the property.
    package var gdbus: String?
    /// How long a new network waits for the first answer before it counts as unmetered. Default 0.5 s.
    package var hold: Duration
    /// The time limit of a query. Default 2 s.
    package var limit: Duration

    /// Defaults to the programs of systemd and GLib.
    package init(
        busctl: String? = "busctl", gdbus: String? = "gdbus", hold: Duration = .milliseconds(500),
        limit: Duration = .seconds(2)
    ) {
        self.busctl = busctl
        self.gdbus = gdbus
        self.hold = hold
        self.limit = limit
    }

    /// No programs: NetworkManager is not queried.
    package static let none = NetworkManagerTools(busctl: nil, gdbus: nil)
}
