import FerryCore
import FerryEngine

/// The sessions of one list: their numbers in the queue, and what each allows itself.
struct SessionGroups: Sendable {
    private struct Group: Sendable {
        let name: String
        var settings = SessionSettings()
        /// Shared by all runs of the session.
        var throttle: Throttle?
    }
    /// Number 0 is of those that belong to no session in particular.
    private var groups = [Group(name: "")]
    private var numbers: [String: Int] = [:]

    /// So many sessions have limits of their own; further ones have none.
    private static let most = 4096

    /// The number of a session, given at first sight.
    mutating func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        guard groups.count < Self.most else { return 0 }
        numbers[name] = groups.count
        groups.append(Group(name: name))
        return groups.count - 1
    }

    func name(of number: Int) -> String { groups.indices.contains(number) ? groups[number].name : "" }

    func settings(of number: Int) -> SessionSettings {
        groups.indices.contains(number) ? groups[number].settings : SessionSettings()
    }

    mutating func set(_ settings: SessionSettings, of number: Int) {
        guard number > 0, groups.indices.contains(number) else { return }
        groups[number].settings = settings
        groups[number].throttle?.set(rate: settings.rateLimit)
    }

    /// What the runs of a session share; `nil` for number 0.
    mutating func throttle(of number: Int, clock: any EngineClock) -> Throttle? {
        guard number > 0, groups.indices.contains(number) else { return nil }
        if let throttle = groups[number].throttle { return throttle }
        let throttle = Throttle(rate: groups[number].settings.rateLimit, clock: clock)
        groups[number].throttle = throttle
        return throttle
    }
}
