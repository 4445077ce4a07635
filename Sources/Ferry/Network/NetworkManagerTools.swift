/// The programs through which NetworkManager is asked: a path, or a name to look for in `PATH`; `nil` for none.
package struct NetworkManagerTools: Sendable, Hashable {
    /// Asks for one property; without it NetworkManager is taken not to be there.
    package var busctl: String?
    /// Says when the property changes.
    package var gdbus: String?
    /// So long a network that is new waits for the first's word before it is taken to be unmetered. Default 0.5 s.
    package var hold: Duration
    /// After this time a question is given up. Default 2 s.
    package var limit: Duration

    /// Those of systemd and GLib.
    package init(
        busctl: String? = "busctl", gdbus: String? = "gdbus", hold: Duration = .milliseconds(500),
        limit: Duration = .seconds(2)
    ) {
        self.busctl = busctl
        self.gdbus = gdbus
        self.hold = hold
        self.limit = limit
    }

    /// NetworkManager is not asked.
    package static let none = NetworkManagerTools(busctl: nil, gdbus: nil)
}
