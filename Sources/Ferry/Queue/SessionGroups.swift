import FerryCore
import FerryEngine

/// The sessions of one list: their group numbers in the queue, and their limits.
struct SessionGroups: Sendable {
    private struct Group: Sendable {
        let name: String
        var settings = SessionSettings()
        /// Shared by all runs of the session.
        var throttle: Throttle?
    }
    /// Group 0 is the list's own.
    private var groups = [Group(name: "")]
    private var numbers: [String: Int] = [:]

    /// Maximum number of sessions with limits of their own.
    private static let most = 4096

    /// The number of a session, assigned on first use.
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

    /// The throttle that the runs of a session share; `nil` for group 0.
    mutating func throttle(of number: Int, clock: any EngineClock) -> Throttle? {
        guard number > 0, groups.indices.contains(number) else { return nil }
        if let throttle = groups[number].throttle { return throttle }
        let throttle = Throttle(rate: groups[number].settings.rateLimit, clock: clock)
        groups[number].throttle = throttle
        return throttle
    }
}
