import FerryCore

/// The pending items of one listener, in order; bounded while the listener does not read. Pure.
///
/// Ends are always kept: there is one for each ended download. Other events, whose number a server can influence, are
/// dropped beyond a limit.
struct WaitingEvents: Sendable {
    /// Number of pending items from which events may be dropped.
    static let most = 10_000

    private(set) var items: [EventMailbox.Item] = []
    private var limit = WaitingEvents.most

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: EventMailbox.Item) {
        if items.count >= limit {
            items.removeAll(where: \.mayBeLeftOut)
            // Scan again only after the number of items has doubled, so that the cost per item is constant.
            limit = max(Self.most, 2 * items.count)
        }
        items.append(item)
    }

    /// Returns all items and keeps none.
    mutating func take() -> [EventMailbox.Item] {
        defer { self = WaitingEvents() }
        return items
    }
}

extension EventMailbox.Item {
    /// True for events that are no ends. Progress items are one per download, and the marker is one.
    fileprivate var mayBeLeftOut: Bool {
        if case .event(let event) = self { !event.kind.isEnd } else { false }
    }
}
