/// The options of `ferry serve` for the settings of a door: what a door's group of arguments conforms to.
public protocol DoorArguments: Sendable {
    /// Sets the settings whose options were given, and no other.
    func set(_ values: inout SettingValues)
}
