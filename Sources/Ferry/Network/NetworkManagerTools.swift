/// The programs through which NetworkManager is asked: a path, or a name to look for in `PATH`; `nil` for none.
package struct NetworkManagerTools: Sendable, Hashable {
    /// Asks for one property; without it NetworkManager is taken not to be there.
    package var busctl: String?
    /// Says when the property changes.
    package var gdbus: String?

    /// Those of systemd and GLib.
    package init(busctl: String? = "busctl", gdbus: String? = "gdbus") {
        self.busctl = busctl
        self.gdbus = gdbus
    }

    /// NetworkManager is not asked.
    package static let none = NetworkManagerTools(busctl: nil, gdbus: nil)
}
