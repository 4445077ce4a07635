/// The system's interfaces and routes, before interpretation.
package struct NetworkTable: Sendable, Hashable {
    package var interfaces: [NetworkInterface]
    package var routes: [NetworkRoute]

    package init(interfaces: [NetworkInterface] = [], routes: [NetworkRoute] = []) {
        self.interfaces = interfaces
        self.routes = routes
    }
}
