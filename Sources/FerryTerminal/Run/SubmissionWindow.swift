import Ferry
import FerryCore

/// The items not yet submitted, and the free slots of the manager.
///
/// While the list may have entries of other hosts, each host gets only a share of the window. Its further entries are set
/// aside, so that a list that is sorted by host still keeps several hosts busy.
///
/// A class, because copies of the iterators' state would be large.
final class SubmissionWindow {
    enum Next {
        case request(DownloadRequest, ListPlace?, columns: JSONValue?)
        case directory(String)
        case unusable(String, UnusableEntry?)
        /// An entry was set aside.
        case aside(ListPlace?)
        /// All items are submitted.
        case end
    }

    /// The source of the next item.
    enum Source {
        /// The iterator.
        case items
        /// The ``ItemFeed``, which has returned nothing since the last item was taken.
        case empty
        /// The ``ItemFeed``, which has returned this item, or `nil` at the end.
        case given(PlannedItems.Placed?)
        /// There is no further item.
        case over
    }

    private var freePlaces: Int
    private var items: PlannedItems.Iterator
    /// The maximum number of submitted entries per host while entries of other hosts are read.
    private let share: Int
    var source: Source
    /// The part files of a directory that are not yet submitted, and their request.
    var parts: ArraySlice<String> = []
    var template: DownloadRequest?
    /// Whether there has been no item so far.
    private(set) var isEmpty = true
    /// The number of submitted entries that have not ended, by host.
    private var open: [String: Int] = [:]
    private var backlog: HostBacklog
    /// Hosts that have entries set aside and use less than their share.
    private var ready: ArraySlice<String> = []
    /// Rereads entries that were set aside.
    private var reopener: PlannedItems.Iterator

    init(places: Int, share: Int, items: PlannedItems.Iterator, isFed: Bool) {
        (freePlaces, self.share, self.items, reopener) = (places, share, items, items)
        source = isFed ? .empty : .items
        backlog = HostBacklog(isFed: isFed)
    }

    /// Whether the feed must be asked for an item.
    var needsItem: Bool {
        if case .empty = source { freePlaces > 0 && parts.isEmpty && !backlog.isFull } else { false }
    }

    /// Whether entries of other hosts may be read soon. Always false for a list that is still being written to.
    var mayHaveOthers: Bool { if case .items = source { !backlog.isFull } else { false } }

    /// Frees the slot of a request that has ended.
    func free(_ host: String?) {
        freePlaces += 1
        guard let host, let count = open[host] else { return }
        open[host] = count > 1 ? count - 1 : nil
        if backlog.has(host) { ready.append(host) }
    }

    /// Returns the next item; `nil` if no slot is free, or if the feed has returned no item yet.
    func take() -> Next? {
        guard freePlaces > 0 else { return nil }
        if let part = parts.popFirst(), var request = template {
            request.destination = .part(part)
            freePlaces -= 1
            return .request(request, nil, columns: nil)
        }
        while let host = ready.popFirst() {
            if open[host] ?? 0 < share, let item = backlog.take(of: host) { return next(item, of: host) }
        }
        let next: PlannedItems.Placed?
        switch source {
        case .over: next = nil
        case _ where backlog.isFull: next = nil
        case .items:
            next = items.nextPlaced()
            if next == nil { source = .over }
        case .empty: return nil
        case .given(let item): (next, source) = (item, item == nil ? .over : .empty)
        }
        // No further entry can be read now, so the remaining slots go to entries that were set aside.
        if next == nil, let (host, item) = backlog.takeAny() { return self.next(item, of: host) }
        return next.map { self.next($0) } ?? .end
    }

    private func next(_ placed: PlannedItems.Placed) -> Next {
        isEmpty = false
        switch placed.item {
        case .request(let request):
            guard let host = request.host else { return submit(request, placed) }
            if open[host] ?? 0 >= share || backlog.has(host) {
                backlog.append(placed, of: host)
                return .aside(placed.place)
            }
            return submit(request, placed)
        case .parts(let directory, let template):
            self.template = template
            return .directory(directory)
        case .unusable(let line): return .unusable(line, placed.unusable)
        }
    }

    private func next(_ item: HostBacklog.Item, of host: String) -> Next {
        let placed: PlannedItems.Placed? =
            switch item {
            case .whole(let placed): placed
            case .place(let place): reopener.reopened(place)
            }
        // The list has changed meanwhile, and no longer has the entry.
        guard let placed else { return .aside(nil) }
        switch placed.item {
        case .request(let request): return submit(request, placed)
        case .unusable(let line): return .unusable(line, placed.unusable)
        case .parts: return .aside(nil)
        }
    }

    private func submit(_ request: DownloadRequest, _ placed: PlannedItems.Placed) -> Next {
        freePlaces -= 1
        if let host = request.host { open[host, default: 0] += 1 }
        return .request(request, placed.place, columns: placed.columns)
    }
}

extension DownloadRequest {
    /// The host of the first source.
    var host: String? { sources.first?.host }
}
