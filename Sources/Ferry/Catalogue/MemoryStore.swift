package import FerryCore
import Synchronization

/// Stores downloads for the lifetime of the manager.
package final class MemoryStore: DownloadStore {
    fileprivate struct State {
        var rows: [DownloadID: CatalogueRow] = [:]
        var histories: [DownloadID: [DownloadEvent]] = [:]
        var pending: [NumberedEvent] = []
        var lastNumber: Int64 = 0
        /// The identifiers in list order; `nil` if they must be sorted again.
        var order: [DownloadID]? = []
        var isClosed = false
    }
    private let state = Mutex(State())
    private let report: @Sendable (DownloadError) -> Void

    /// `report` receives errors of batches passed to ``submit(_:)``.
    package init(report: @escaping @Sendable (DownloadError) -> Void = { _ in }) { self.report = report }

    // MARK: Reading

    package func load(_ filter: RowFilter) async throws(DownloadError) -> [IndexEntry] {
        try read { $0.matching(filter.passes).map(\.entry) }
    }

    package func row(_ id: DownloadID) async throws(DownloadError) -> CatalogueRow? { try read { $0.rows[id] } }

    package func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try read { state in ids.compactMap { state.rows[$0] } }
    }

    package func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> [CatalogueRow] {
        try read { Array($0.matching(filter, order).dropFirst(max(0, offset)).prefix(max(0, limit))) }
    }

    package func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID] {
        try read { $0.matching(filter, order).map(\.id) }
    }

    package func identifiers(
        of words: [String], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try read { state in
            let own = state.matching { session == nil || $0.session == session }
            let named = Dictionary(grouping: own, by: \.name)
            return words.map { word in
                if let row = state.rows[DownloadID(rawValue: word)], session == nil || row.session == session {
                    return [row.id]
                }
                let beginning = own.lazy.filter { !word.isEmpty && $0.id.rawValue.utf8.hasPrefix(word) }
                return (named[word] ?? Array(beginning)).map(\.id)
            }
        }
    }

    package func gap(
        _ placement: PlacementPlanner.Placement, for place: QueuePlace
    ) async throws(DownloadError) -> QueueGap {
        try read { state in
            var gap = QueueGap()
            for row in state.rows.values where row.key.priority == place.key.priority && row.id != place.id {
                let other = QueuePlace(id: row.id, key: row.key)
                if placement.isBehind(row.key) {
                    if gap.left.map({ $0.isListed(before: other) }) ?? true { gap.left = other }
                } else {
                    if gap.right.map({ other.isListed(before: $0) }) ?? true { gap.right = other }
                }
            }
            return gap
        }
    }

    package func identifier(
        at index: Int, besides place: QueuePlace
    ) async throws(DownloadError) -> DownloadID? {
        try read { state in
            let others = state.matching { $0.key.priority == place.key.priority && $0.id != place.id }
            return others.indices.contains(index) ? others[index].id : nil
        }
    }

    package func count(_ filter: RowFilter) async throws(DownloadError) -> Int {
        try read { $0.rows.values.count(where: filter.passes) }
    }

    package func rows(url: String) async throws(DownloadError) -> [CatalogueRow] {
        try read { state in state.matching { $0.request.sources.first?.text == url } }
    }

    package func duplicates(
        of requests: [DownloadRequest], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try read { state in
            let wanted = Set(requests.map(SourcesAndPlace.init))
            var found: [SourcesAndPlace: [DownloadID]] = [:]
            for row in state.matching({ row in
                wanted.contains(SourcesAndPlace(row.request)) && (session == nil || row.session == session)
            }) {
                found[SourcesAndPlace(row.request), default: []].append(row.id)
            }
            return requests.map { found[SourcesAndPlace($0)] ?? [] }
        }
    }

    package func totals(session: String?) async throws(DownloadError) -> StoreTotals {
        try read { state in
            var totals = StoreTotals()
            for row in state.rows.values where session == nil || row.session == session {
                let kind = StateKind(row.state)
                totals.counts[kind, default: 0] += 1
                totals.bytes[kind] = totals.bytes[kind, default: 0].adding(row.completedBytes)
            }
            return totals
        }
    }

    package func pendingEvents(after number: Int64, limit: Int) async throws(DownloadError) -> [NumberedEvent] {
        try read { Array($0.pending.lazy.filter { $0.number > number }.prefix(max(0, limit))) }
    }

    package func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try read { $0.histories[id] ?? [] }
    }

    private func read<Value>(_ body: (inout State) -> Value) throws(DownloadError) -> Value {
        let value = state.withLock { state in state.isClosed ? nil : body(&state) }
        guard let value else { throw .storeIsClosed }
        return value
    }

    // MARK: Changing

    package func submit(_ changes: [StoreChange]) {
        do throws(DownloadError) {
            _ = try apply(changes)
        } catch {
            report(error)
        }
    }

    @discardableResult
    package func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent] { try apply(changes) }

    package func close() async { state.withLock { $0 = State(isClosed: true) } }

    private func apply(_ changes: [StoreChange]) throws(DownloadError) -> [NumberedEvent] {
        let result: Result<[NumberedEvent], DownloadError> = state.withLock { state in
            guard !state.isClosed else { return .failure(.storeIsClosed) }
            if let id = state.taken(by: changes) { return .failure(.isListed(id)) }
            let first = state.lastNumber
            for change in changes { state.apply(change) }
            return .success(state.pending.filter { $0.number > first })
        }
        return try result.get()
    }
}

/// The sources and the destination of a request, by which duplicates are detected.
struct SourcesAndPlace: Hashable {
    let sources: [DownloadURL]
    private let place: [UInt8]

    init(_ request: DownloadRequest) {
        sources = request.sources
        place = Array(CatalogueColumns.place(request).utf8)
    }
}

extension QueuePlace {
    fileprivate func isListed(before other: QueuePlace) -> Bool {
        (key, id.rawValue) < (other.key, other.id.rawValue)
    }
}

extension MemoryStore.State {
    fileprivate mutating func sorted() -> [DownloadID] {
        if let order { return order }
        let sorted = rows.values.sorted { ($0.key, $0.id.rawValue) < ($1.key, $1.id.rawValue) }.map(\.id)
        order = sorted
        return sorted
    }

    /// The matching rows, in list order.
    fileprivate mutating func matching(_ isMeant: (CatalogueRow) -> Bool) -> [CatalogueRow] {
        sorted().compactMap { rows[$0] }.filter(isMeant)
    }

    /// The matching rows, in the given order.
    fileprivate mutating func matching(_ filter: RowFilter, _ order: RowOrder) -> [CatalogueRow] {
        let rows = matching(filter.passes)
        if order == .queue { return rows }
        if order.column == .queue { return rows.reversed() }
        let sorted = rows.enumerated().sorted { left, right in
            order.isBefore(left.element, right.element) ?? (left.offset < right.offset)
        }
        return sorted.map(\.element)
    }

    /// The first identifier in `changes` that cannot be inserted, taking earlier changes of the batch into account.
    fileprivate func taken(by changes: [StoreChange]) -> DownloadID? {
        var added: Set<DownloadID> = []
        var removed: Set<DownloadID> = []
        for change in changes {
            switch change {
            case .insert(let new):
                for row in new {
                    if rows[row.id] != nil, !removed.contains(row.id) { return row.id }
                    guard added.insert(row.id).inserted else { return row.id }
                }
            case .remove(let ids):
                removed.formUnion(ids)
                added.subtract(ids)
            default: break
            }
        }
        return nil
    }

    fileprivate mutating func apply(_ change: StoreChange) {
        switch change {
        case .insert(let new):
            for row in new { rows[row.id] = row }
            order = nil
        case .update(let id, let fields):
            for field in fields {
                if case .file(let file, _) = field { follow(file, of: id) }
                rows[id]?.set(field)
            }
        case .keys(let changes):
            for change in changes { rows[change.id]?.key = change.key }
            order = nil
        case .end(let id, let ending):
            guard let session = rows[id]?.session else { return }
            rows[id]?.end(ending)
            let event = DownloadEvent(id: id, date: ending.date, kind: ending.event)
            record(event)
            guard ending.isNumbered else { return }
            lastNumber += 1
            pending.append(NumberedEvent(number: lastNumber, session: session, event: event))
        case .record(let event): record(event)
        case .remove(let ids):
            for id in ids {
                rows[id] = nil
                histories[id] = nil
            }
            order = nil
        case .acknowledge(let number): pending.removeAll { $0.number == number }
        case .complete: break
        }
    }

    /// Updates the path of a moved file in the unacknowledged events of its download. Must be called before the row is updated.
    private mutating func follow(_ file: FinishedDownload, of id: DownloadID) {
        guard let old = rows[id]?.finished?.path else { return }
        for index in pending.indices where pending[index].event.id == id {
            guard case .completed(var told) = pending[index].event.kind, told.path == old else { continue }
            told.path = file.path
            pending[index].event.kind = .completed(told)
        }
    }

    private mutating func record(_ event: DownloadEvent) {
        guard rows[event.id] != nil else { return }
        var events = histories[event.id] ?? []
        events.append(event)
        if events.count > StoreChange.maxHistory { events.removeFirst(events.count - StoreChange.maxHistory) }
        histories[event.id] = events
    }
}
