import FerryCore
import HeapModule

/// Queued downloads in the order of their keys, in one line per server, so that all downloads of a server that must wait are
/// skipped at once, however many there are.
///
/// Invariant: the heap of heads contains a head for each line that is not shut, and its key is not greater than the key of the
/// line's first valid download. Outdated heads are skipped.
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

    /// Records that one node has become stale; `entries` must already reflect this.
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

    /// Removes the first valid download. The caller must return it with ``putBack(_:)`` before any other change.
    mutating func takeFirst(in entries: [DownloadID: QueueEntry]) -> Place? {
        guard let first = first(in: entries) else { return nil }
        _ = lines[first.site]?.waiting.takeFirst(in: entries)
        return first
    }

    mutating func putBack(_ place: Place) {
        lines[place.site]?.waiting.putBack(place.node)
        raise(place.node, place.site)
    }

    /// The valid downloads of a line, in no particular order.
    func downloads(of site: QueuedSites.Number, in entries: [DownloadID: QueueEntry]) -> [DownloadID] {
        lines[site]?.waiting.downloads(in: entries) ?? []
    }

    /// Skips a line until it is opened again.
    mutating func shut(_ site: QueuedSites.Number) {
        lines[site]?.isShut = true
        lines[site]?.head = nil
    }

    mutating func open(_ site: QueuedSites.Number, in entries: [DownloadID: QueueEntry]) {
        guard lines[site]?.isShut == true else { return }
        lines[site]?.isShut = false
        if let first = lines[site]?.waiting.first(in: entries) { raise(first, site) }
    }

    /// Makes a node the head of its line if it precedes the current head.
    private mutating func raise(_ node: Node, _ site: QueuedSites.Number) {
        guard let line = lines[site], !line.isShut, line.head.map({ node < $0 }) ?? true else { return }
        lines[site]?.head = node
        heads.insert(Head(node: node, site: site))
    }
}

/// The lines that are skipped, with the end and the reason of each wait.
struct ShutLines: Sendable {
    /// Lines that an event opens.
    private var events: Set<QueuedSites.Number> = []
    private var times: [QueuedSites.Number: Duration] = [:]
    private var timers = Heap<Timer>()
    /// Why lines are shut, if their servers are the reason.
    private var waits: [QueuedSites.Number: HostWait] = [:]
    private var news = WaitNews()

    private struct Timer: Comparable {
        let at: Duration
        let site: QueuedSites.Number

        static func < (left: Timer, right: Timer) -> Bool { (left.at, left.site) < (right.at, right.site) }
    }

    /// Why a line is shut; `nil` if the line is open, or has its share of the slots.
    subscript(site: QueuedSites.Number) -> HostWait? { waits[site] }

    mutating func insert(_ site: QueuedSites.Number, until time: Duration?, _ wait: HostWait?) {
        set(wait, of: site)
        guard let time else {
            events.insert(site)
            return
        }
        times[site] = time
        timers.insert(Timer(at: time, site: site))
    }

    /// Removes the lines that an event may open, and those whose time has come; with `all`, every line.
    mutating func take(at now: Duration, all: Bool) -> [QueuedSites.Number] {
        let due = takeDue(at: now, all: all)
        for site in due { set(nil, of: site) }
        return due
    }

    private mutating func set(_ wait: HostWait?, of site: QueuedSites.Number) {
        guard waits[site] != wait else { return }
        waits[site] = wait
        news.touched(site)
    }

    private mutating func takeDue(at now: Duration, all: Bool) -> [QueuedSites.Number] {
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

    // MARK: Reports

    /// The lines whose downloads wait for a new reason that must be reported; `size` is the number of downloads in a line.
    mutating func takeNews(at now: Duration, size: (QueuedSites.Number) -> Int) -> [QueuedSites.Number] {
        news.take(at: now, waits, size: size)
    }

    /// When ``takeNews(at:size:)`` must be called again.
    var nextNews: Duration? { news.next }
}

/// The lines whose reason for waiting differs from the reported one.
///
/// A server may change its answer many times a second, and 100,000 downloads may wait for it. So each report is followed by a
/// pause that is proportional to the number of reported downloads. For a long line, a report states only whether the line is shut;
/// the times are read together with the downloads.
struct WaitNews: Sendable {
    private var touched: Set<QueuedSites.Number> = []
    private var told: [QueuedSites.Number: HostWait] = [:]
    private var earliest = Duration.zero

    /// The length from which a line counts as long; clients that observe the list then get a snapshot instead.
    static let long = 2000
    /// The pause for each reported download.
    private static let pause = Duration.milliseconds(1)

    mutating func touched(_ site: QueuedSites.Number) { touched.insert(site) }

    /// When the next report is due; `nil` if there is none.
    var next: Duration? { touched.isEmpty ? nil : earliest }

    /// Returns the lines that must be reported now.
    mutating func take(
        at now: Duration, _ waits: [QueuedSites.Number: HostWait], size: (QueuedSites.Number) -> Int
    ) -> [QueuedSites.Number] {
        guard now >= earliest else { return [] }
        defer { touched = [] }
        var total = 0
        let news = touched.filter { site in
            let (old, new) = (told[site], waits[site])
            guard old != new else { return false }
            told[site] = new
            let size = size(site)
            guard size > 0, size < Self.long || (old == nil) != (new == nil) else { return false }
            total += size
            return true
        }
        earliest = now + Self.pause * total
        return Array(news)
    }
}
