/// What the system says about interfaces and routes, before anything is concluded from it.
package struct NetworkTable: Sendable, Hashable {
    package var interfaces: [NetworkInterface]
    package var routes: [NetworkRoute]

    package init(interfaces: [NetworkInterface] = [], routes: [NetworkRoute] = []) {
        self.interfaces = interfaces
        self.routes = routes
    }
}
