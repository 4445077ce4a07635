/// The hosts of queued downloads, and whether each is local (this machine, or reachable without the default route).
///
/// An address is judged by the current network. A name counts as remote unless a lookup while offline found it to be
/// local. Each host is stored once, because 100,000 downloads may share it.
struct QueuedHosts: Sendable {
    /// The key of a host.
    typealias Number = UInt32
    /// No host: the download counts as remote.
    static let none: Number = 0

    private struct Host: Sendable {
        let name: String
        /// Whether the host is a name, which must be resolved.
        let isName: Bool
        var isNear: Bool
        /// The number of downloads of this host.
        var count = 0
    }
    private var hosts: [Number: Host] = [:]
    private var numbers: [String: Number] = [:]
    private var lastNumber: Number = 0
    /// Names to resolve in this network; the last element is resolved next.
    private var unasked: [String] = []

    func number(of name: String) -> Number? { numbers[name] }

    func isNear(_ number: Number) -> Bool { hosts[number]?.isNear ?? false }

    /// Whether the host counts as remote only because its name has not been resolved.
    func isUnsure(_ number: Number) -> Bool { hosts[number].map { $0.isName && !$0.isNear } ?? false }

    // MARK: Queueing

    /// Counts one more download of a host.
    mutating func enter(_ name: String?, in network: NetworkSnapshot) -> Number {
        guard let name, !name.isEmpty else { return Self.none }
        let number = number(of: name, in: network)
        hosts[number]?.count += 1
        return number
    }

    /// Counts one fewer download of a host.
    mutating func leave(_ number: Number) {
        guard var host = hosts[number] else { return }
        host.count -= 1
        hosts[number] = host
        // A resolved local name is kept until the network changes.
        if host.count == 0, !(host.isName && host.isNear) { forget(number, host) }
    }

    private mutating func number(of name: String, in network: NetworkSnapshot) -> Number {
        if let number = numbers[name] { return number }
        lastNumber &+= 1
        let isNear = network.isLocal(name)
        let host = Host(name: name, isName: NetworkAddress(name) == nil, isNear: isNear)
        hosts[lastNumber] = host
        numbers[name] = lastNumber
        if host.isName, !isNear, !network.status.isOnline { unasked.append(name) }
        return lastNumber
    }

    private mutating func forget(_ number: Number, _ host: Host) {
        hosts[number] = nil
        numbers[host.name] = nil
    }

    // MARK: Resolving

    /// Re-evaluates all hosts for a new network; returns the hosts whose result changed. While offline, a name keeps its
    /// previous result until it has been resolved again.
    mutating func judge(by network: NetworkSnapshot) -> Set<Number> {
        unasked = []
        var changed: Set<Number> = []
        for (number, host) in hosts {
            if host.count == 0 {
                forget(number, host)
                continue
            }
            let isLocal = network.isLocal(host.name)
            let isToBeAsked = host.isName && !isLocal && !network.status.isOnline
            if isToBeAsked { unasked.append(host.name) }
            let isNear = isLocal || isToBeAsked && host.isNear
            guard isNear != host.isNear else { continue }
            hosts[number]?.isNear = isNear
            changed.insert(number)
        }
        return changed
    }

    /// Moves these hosts to the front of the lookups.
    mutating func hasten(_ numbers: Set<Number>) {
        let first = Set(numbers.compactMap { hosts[$0]?.name })
        guard unasked.count > 1, !first.isEmpty else { return }
        unasked = unasked.filter { !first.contains($0) } + unasked.filter { first.contains($0) }
    }

    /// Whether there may be a name to resolve in this network.
    var hasUnasked: Bool { !unasked.isEmpty }

    /// The next name to resolve in this network.
    mutating func nextUnasked() -> String? {
        while let name = unasked.popLast() {
            if numbers[name] != nil { return name }
        }
        return nil
    }

    /// Stores the result of a lookup. Returns false if nothing changed.
    mutating func settle(_ number: Number, isNear: Bool) -> Bool {
        guard let host = hosts[number], host.isNear != isNear else { return false }
        hosts[number]?.isNear = isNear
        return true
    }
}
