/// The programs to query NetworkManager: paths, or names to search in `PATH`; `nil` for none.
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

    /// NetworkManager is not queried.
    package static let none = NetworkManagerTools(busctl: nil, gdbus: nil)
}
