import FerryAPI
import FerryCore
import FerryMetrics
import Synchronization

/// The open doors of a daemon: one for each kind that the program has and the settings enable.
struct OpenDoors: Sendable {
    private let entries: [(kind: DoorKind, door: (any Door)?)]

    /// Makes the doors that the settings enable. Throws the errors of the kinds.
    init(_ kinds: [DoorKind], _ host: DoorHost) throws(DownloadError) {
        var entries: [(kind: DoorKind, door: (any Door)?)] = []
        for kind in kinds { entries.append((kind, try kind.make(host))) }
        self.entries = entries
    }

    /// The doors in the order of their kinds.
    var all: [any Door] { entries.compactMap(\.door) }

    /// Whether a session belongs to a kind of door, even if the door is not open.
    func owns(_ session: String) -> Bool { entries.contains { $0.kind.session == session } }

    /// Passes an event to the door that owns its session; an event of the session `default` goes to the doors without a session.
    func heard(_ event: DownloadEvent, in session: String) {
        for (kind, door) in entries where (kind.session ?? FerryAPI.defaultSession) == session { door?.heard(event) }
    }

    /// Returns the response of the door that has the call's route.
    ///
    /// Throws `noSuchPath` if no kind has the route, and the error of the kind if its door is not open.
    func answer(_ call: DoorCall) async throws -> any Encodable & Sendable {
        for (kind, door) in entries {
            guard let routes = kind.routes, routes.contains(call.route) else { continue }
            guard let door else { throw routes.absence }
            return try await door.answer(call)
        }
        throw Problem(.noSuchPath)
    }

    /// The metric families of all kinds, without series for doors that are not open.
    func families() async -> [MetricFamily] {
        var families: [MetricFamily] = []
        for (kind, door) in entries {
            families += await door?.families() ?? kind.metrics.map { MetricFamily($0, [MetricFamily.Series]()) }
        }
        return families
    }

    /// Runs the background work of the doors until cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for door in all { group.addTask { await door.run() } }
        }
    }
}

/// Contains the open doors of a daemon. They are set after the API has been created, because each door uses the API.
final class DoorPlace: Sendable {
    private let doors = Mutex<OpenDoors?>(nil)

    /// `nil` before the doors are open.
    var opened: OpenDoors? { doors.withLock { $0 } }

    func open(_ new: OpenDoors) { doors.withLock { $0 = new } }
}
