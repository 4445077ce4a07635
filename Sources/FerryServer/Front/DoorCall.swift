public import FerryAPI
public import FerryCore

/// The routes of the daemon's API to which a kind of door responds.
///
/// They are in the table of all routes (``FerryAPI/Route``), because clients and the OpenAPI document need them too. The daemon
/// applies its access rules and limits to them, as to its own routes.
public struct DoorRoutes: Sendable {
    private let routes: Set<Route>
    let absence: DownloadError

    /// - Parameter absence: The error that a daemon without the door returns.
    public init(_ routes: Set<Route>, without absence: DownloadError) {
        (self.routes, self.absence) = (routes, absence)
    }

    func contains(_ route: Route) -> Bool { routes.contains(route) }
}

/// A request to one of a door's routes of the daemon's API.
public struct DoorCall: Sendable {
    private let request: APIRequest
    private let budget: BodyBudget

    init(_ request: APIRequest, _ budget: BodyBudget) { (self.request, self.budget) = (request, budget) }

    /// The route, which is one of the routes of the door's kind.
    public var route: Route { request.route }

    /// Decodes the body. Throws a problem that names the first defect.
    public func body<Body: Decodable>(_ type: Body.Type) async throws -> Body { try await request.body(type, budget) }

    /// Decodes the body; `nil` for an empty body. Throws like ``body(_:)``.
    public func bodyIfPresent<Body: Decodable>(_ type: Body.Type) async throws -> Body? {
        try await request.bodyIfPresent(type, budget)
    }
}
