import FerryCore

/// What waits for one listener, in order; of bounded size while it does not listen. Pure.
///
/// Ends are never left out: they are as many as the downloads that ended. What happens on the way to them, as often as a
/// server likes, goes once there is too much.
struct WaitingEvents: Sendable {
    /// So many wait before any is left out.
    static let most = 10_000

    private(set) var items: [EventMailbox.Item] = []
    private var limit = WaitingEvents.most

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: EventMailbox.Item) {
        if items.count >= limit {
            items.removeAll(where: \.mayBeLeftOut)
            // Looked through again only after as many more, so that each costs little.
            limit = max(Self.most, 2 * items.count)
        }
        items.append(item)
    }

    /// Gives all, and keeps none.
    mutating func take() -> [EventMailbox.Item] {
        defer { self = WaitingEvents() }
        return items
    }
}

extension EventMailbox.Item {
    /// Of a download that moves there is one at a time, and the mark is one alone.
    fileprivate var mayBeLeftOut: Bool {
        if case .event(let event) = self { !event.kind.isEnd } else { false }
    }
}
