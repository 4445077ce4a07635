import ArgumentParser
import FerryServer

extension Doors.Options {
    /// Sets the settings whose options were given. The groups are found by reflection, as the parser finds them, so a new door
    /// needs no code here.
    func set(_ values: inout SettingValues) {
        for child in Mirror(reflecting: self).children {
            (child.value as? any DoorOptionGroup)?.arguments.set(&values)
        }
    }
}

/// A group of options that set the settings of a door.
private protocol DoorOptionGroup {
    var arguments: any DoorArguments { get }
}

extension OptionGroup: DoorOptionGroup where Value: DoorArguments {
    fileprivate var arguments: any DoorArguments { wrappedValue }
}
