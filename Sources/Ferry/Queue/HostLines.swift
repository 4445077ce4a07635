import FerryCore
import HeapModule

/// Queued downloads in the order of their keys, in one line for each server, so that the downloads of a server that must
/// wait are passed over at once, however many there are.
///
/// Invariant: the heap of heads has a head for each line that is not shut, whose key is at most that of the line's first
/// valid download. Heads that are no longer those of their line are skipped.
struct HostLines: Sendable {
    typealias Node = StampedHeap<QueueKey>.Node

    /// A download and its line.
    struct Place: Sendable {
        let node: Node
        let site: QueuedSites.Number
    }

    private struct Line {
        var waiting = StampedHeap<QueueKey>()
        /// The line's node in the heap of heads.
        var head: Node?
        var isShut = false
    }

    private struct Head: Comparable {
        let node: Node
        let site: QueuedSites.Number

        static func < (left: Head, right: Head) -> Bool { left.node < right.node }
        static func == (left: Head, right: Head) -> Bool { left.node == right.node }
    }

    private var lines: [QueuedSites.Number: Line] = [:]
    private var heads = Heap<Head>()
    /// The number of valid nodes.
    private(set) var count = 0

    mutating func insert(_ order: QueueKey, _ id: DownloadID, stamp: UInt64, site: QueuedSites.Number) {
        count += 1
        lines[site, default: Line()].waiting.insert(order, id, stamp: stamp)
        raise(Node(order: order, id: id, stamp: stamp), site)
    }

    /// Records that one node became stale; `entries` must already reflect that.
    mutating func forgetOne(site: QueuedSites.Number, in entries: [DownloadID: QueueEntry]) {
        count -= 1
        lines[site]?.waiting.forgetOne(in: entries)
        if lines[site]?.waiting.count == 0 { lines[site] = nil }
        if heads.count > 2 * lines.count + 64 {
            heads = Heap(lines.compactMap { site, line in line.head.map { Head(node: $0, site: site) } })
        }
    }

    /// The first valid download of the lines that are not shut.
    mutating func first(in entries: [DownloadID: QueueEntry]) -> Place? {
        while let head = heads.min {
            guard let known = lines[head.site]?.head, known == head.node else {
                heads.removeMin()
                continue
            }
            let real = lines[head.site]?.waiting.first(in: entries)
            if let real, real == head.node { return Place(node: real, site: head.site) }
            heads.removeMin()
            lines[head.site]?.head = nil
            if let real { raise(real, head.site) }
        }
        return nil
    }

    /// Removes the first valid download. It must be returned with ``putBack(_:)`` before any other change.
    mutating func takeFirst(in entries: [DownloadID: QueueEntry]) -> Place? {
        guard let first = first(in: entries) else { return nil }
        _ = lines[first.site]?.waiting.takeFirst(in: entries)
        return first
    }

    mutating func putBack(_ place: Place) {
        lines[place.site]?.waiting.putBack(place.node)
        raise(place.node, place.site)
    }

    /// Passes a line over until it is opened again.
    mutating func shut(_ site: QueuedSites.Number) {
        lines[site]?.isShut = true
        lines[site]?.head = nil
    }

    mutating func open(_ site: QueuedSites.Number, in entries: [DownloadID: QueueEntry]) {
        guard lines[site]?.isShut == true else { return }
        lines[site]?.isShut = false
        if let first = lines[site]?.waiting.first(in: entries) { raise(first, site) }
    }

    /// Makes a node the head of its line if it is before the present one.
    private mutating func raise(_ node: Node, _ site: QueuedSites.Number) {
        guard let line = lines[site], !line.isShut, line.head.map({ node < $0 }) ?? true else { return }
        lines[site]?.head = node
        heads.insert(Head(node: node, site: site))
    }
}

/// The lines that are passed over, and until when.
struct ShutLines: Sendable {
    /// Lines that an event opens.
    private var events: Set<QueuedSites.Number> = []
    private var times: [QueuedSites.Number: Duration] = [:]
    private var timers = Heap<Timer>()

    private struct Timer: Comparable {
        let at: Duration
        let site: QueuedSites.Number

        static func < (left: Timer, right: Timer) -> Bool { (left.at, left.site) < (right.at, right.site) }
    }

    mutating func insert(_ site: QueuedSites.Number, until time: Duration?) {
        guard let time else {
            events.insert(site)
            return
        }
        times[site] = time
        timers.insert(Timer(at: time, site: site))
    }

    /// Removes the lines that an event may open, and those whose time has come; with `all` every line.
    mutating func take(at now: Duration, all: Bool) -> [QueuedSites.Number] {
        var due = Array(events)
        events = []
        if all {
            due += times.keys
            (times, timers) = ([:], Heap())
            return due
        }
        while let first = timers.min, first.at <= now || times[first.site] != first.at {
            timers.removeMin()
            guard times[first.site] == first.at else { continue }
            times[first.site] = nil
            due.append(first.site)
        }
        return due
    }

    /// The first time at which a line opens.
    mutating func next() -> Duration? {
        while let first = timers.min {
            if times[first.site] == first.at { return first.at }
            timers.removeMin()
        }
        return nil
    }
}
