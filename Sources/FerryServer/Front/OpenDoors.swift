import FerryAPI
import FerryCore
import FerryMetrics

/// The doors of a daemon: of each kind that its program has, the one that the settings ask for.
struct OpenDoors: Sendable {
    private let entries: [(kind: DoorKind, door: (any Door)?)]

    /// Throws what the kinds throw, and `invalidRequest` if the settings ask for a door of which there is no kind.
    init(_ kinds: [DoorKind], _ host: DoorHost) throws(DownloadError) {
        var entries: [(kind: DoorKind, door: (any Door)?)] = []
        for kind in kinds { entries.append((kind, try kind.make(host))) }
        self.entries = entries
        let names = Set(all.map(\.name))
        for name in host.settings.doors where !names.contains(name) {
            throw DownloadError(.invalidRequest, ErrorPhrase(.noSuchDoor, name), recovery: .needsUser)
        }
    }

    /// The doors in the order of their kinds.
    var all: [any Door] { entries.compactMap(\.door) }

    /// Whether a session is a door's own, also if the door is not open.
    func owns(_ session: String) -> Bool { entries.contains { $0.kind.session == session } }

    /// Tells an event to the door whose session it is of; one of the session `default` to the doors without a session.
    func heard(_ event: DownloadEvent, in session: String) {
        for (kind, door) in entries where (kind.session ?? FerryAPI.defaultSession) == session { door?.heard(event) }
    }

    /// The families of all kinds; without series for doors that are not open.
    func families() async -> [MetricFamily] {
        var families: [MetricFamily] = []
        for (kind, door) in entries {
            families += await door?.families() ?? kind.metrics.map { MetricFamily($0, [MetricFamily.Series]()) }
        }
        return families
    }

    /// Runs what the doors do in the background, until it is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for door in all { group.addTask { await door.run() } }
        }
    }
}
