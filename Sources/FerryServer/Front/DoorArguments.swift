/// The options of `ferry serve` for the settings of a door. A door's group of arguments conforms to this protocol.
public protocol DoorArguments: Sendable {
    /// Sets only the settings whose options were given.
    func set(_ values: inout SettingValues)
}
