import Ferry

/// Entries that were read but not submitted because their hosts have used up their share of the window: by host, in the
/// order of the list.
///
/// Only the first entries of a list file are kept in memory. For the others, only the place is kept; they are read again when
/// their turn comes, so that 100,000 entries of one host need little memory.
struct HostBacklog {
    enum Item {
        case place(ListPlace)
        /// One of the first entries, an argument, or an entry of a document or of a list that is still being written to.
        case whole(PlannedItems.Placed)
    }

    /// The maximum number of entries, beyond which hosts get more than their share.
    static let mostItems = 1 << 17
    /// The number of entries that are kept whole although they could be read again. Also the maximum for a list that is
    /// still being written to, because another reader of it would have to wait for the writer.
    static let mostWhole = 1 << 12

    private let isFed: Bool
    private var items: [String: ArraySlice<Item>] = [:]
    /// The hosts in the order of arrival.
    private var order: [String] = []
    private(set) var count = 0

    /// - Parameter isFed: Whether the list is still being written to.
    init(isFed: Bool) { self.isFed = isFed }

    var isFull: Bool { count >= (isFed ? Self.mostWhole : Self.mostItems) }

    func has(_ host: String) -> Bool { items[host] != nil }

    mutating func append(_ placed: PlannedItems.Placed, of host: String) {
        if items[host] == nil { order.append(host) }
        let item: Item =
            if !isFed, count >= Self.mostWhole, let place = placed.place, place.isOfLine { .place(place) } else {
                .whole(placed)
            }
        items[host, default: []].append(item)
        count += 1
    }

    /// Removes the first entry of a host.
    mutating func take(of host: String) -> Item? {
        guard let item = items[host]?.popFirst() else { return nil }
        count -= 1
        if items[host]?.isEmpty == true {
            items[host] = nil
            order.removeAll { $0 == host }
        }
        return item
    }

    /// Removes the first entry of the host that has waited longest.
    mutating func takeAny() -> (host: String, item: Item)? {
        guard let host = order.first, let item = take(of: host) else { return nil }
        return (host, item)
    }
}

extension ListPlace {
    /// Whether the entry can be read again from its place, which an entry of a document cannot.
    fileprivate var isOfLine: Bool { offset > 0 || line == 1 }
}
