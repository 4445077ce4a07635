package import FerryCore

/// The servers of queued downloads. Each is stored once, because 100,000 downloads may share it.
struct QueuedSites: Sendable {
    /// The key of a server.
    typealias Number = UInt32
    /// No server; the gate is not queried before the download starts.
    static let none: Number = 0

    private struct Site: Sendable {
        let origin: Origin
        /// The number of downloads of this server.
        var count = 0
    }
    private var sites: [Number: Site] = [:]
    private var numbers: [Origin: Number] = [:]
    private var lastNumber: Number = 0

    func origin(of number: Number) -> Origin? { sites[number]?.origin }

    /// The number of downloads of a server.
    func count(of number: Number) -> Int { sites[number]?.count ?? 0 }

    /// Counts one more download of a server.
    mutating func enter(_ origin: Origin?) -> Number {
        guard let origin else { return Self.none }
        if let number = numbers[origin] {
            sites[number]?.count += 1
            return number
        }
        lastNumber &+= 1
        sites[lastNumber] = Site(origin: origin, count: 1)
        numbers[origin] = lastNumber
        return lastNumber
    }

    /// Counts one fewer download of a server.
    mutating func leave(_ number: Number) {
        guard var site = sites[number] else { return }
        site.count -= 1
        sites[number] = site.count > 0 ? site : nil
        if site.count <= 0 { numbers[site.origin] = nil }
    }
}

/// Decides whether a server's download may get a slot of the queue.
package protocol HostGate {
    /// Whether a download of the server may start.
    func opening(of origin: Origin, at now: Duration) -> HostOpening
    /// Notes that a download of the server starts.
    func began(_ origin: Origin, at now: Duration)
}

/// A gate that is always open.
package struct OpenHostGate: HostGate {
    package init() {}
    package func opening(of origin: Origin, at now: Duration) -> HostOpening { .open }
    package func began(_ origin: Origin, at now: Duration) {}
}
