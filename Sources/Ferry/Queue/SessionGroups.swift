package import FerryCore

/// The limits of one session in a list that hosts several; they apply within the limits of the list.
package struct SessionSettings: Codable, Sendable, Hashable {
    /// Maximum number of the session's downloads that run at a time; `nil` for no limit of its own.
    package var maxConcurrentDownloads: Int?
    /// Maximum total speed of the session's downloads, in bytes per second; `nil` for no limit of its own.
    package var rateLimit: ByteCount?
    /// Whether metered networks may be used; `nil` for the manager's rule.
    package var allowsMetered: Bool?
    /// Whether constrained networks may be used; `nil` for the manager's rule.
    package var allowsConstrained: Bool?
    /// Whether the session's downloads neither wait for slots of the list nor take any, because a program waits for each of them.
    /// `nil` means false.
    package var hasOwnSlots: Bool?

    package init() {}
}

/// The sessions of one list: their group numbers in the queue, and their limits.
struct SessionGroups: Sendable {
    /// Group 0 is the list's own, without limits.
    private var settings = [SessionSettings()]
    private var numbers: [String: UInt16]

    /// Maximum number of sessions with limits of their own.
    private static let most = 4096

    /// The sessions of a list whose own session is `own`.
    init(own: String) { numbers = own.isEmpty ? ["": 0] : ["": 0, own: 0] }

    /// The number of a session, assigned on first use.
    mutating func number(of name: String) -> UInt16 {
        if let number = numbers[name] { return number }
        guard settings.count < Self.most else { return 0 }
        let number = UInt16(settings.count)
        numbers[name] = number
        settings.append(SessionSettings())
        return number
    }

    func settings(of number: UInt16) -> SessionSettings { settings[Int(number)] }

    mutating func set(_ new: SessionSettings, of name: String) {
        let number = number(of: name)
        if number > 0 { settings[Int(number)] = new }
    }
}
