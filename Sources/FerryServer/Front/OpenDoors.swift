import FerryAPI
import FerryCore
import FerryMetrics

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
