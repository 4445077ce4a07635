import FerryCore

/// The hosts of queued downloads, and which of them are local: this machine, or reachable without the default route.
///
/// An address is judged by the current network. A name counts as remote unless a lookup while offline found it to be
/// local. Each host is stored once, since 100,000 downloads may share it.
struct QueuedHosts: Sendable {
    private struct Host: Sendable {
        let name: String
        /// Whether the host is a name, which must be resolved.
        let isName: Bool
        var isNear: Bool
        /// The number of downloads of this host.
        var count = 0
    }
    private var hosts: [UInt32: Host] = [:]
    private var numbers: [String: UInt32] = [:]
    private var lastNumber: UInt32 = 0
    /// The key in `hosts` of each download's host.
    private var places: [DownloadID: UInt32] = [:]
    /// Names to resolve in this network, the next one last.
    private var unasked: [String] = []

    // MARK: Lookup

    func host(of id: DownloadID) -> String? { places[id].flatMap { hosts[$0]?.name } }

    func isNear(_ id: DownloadID) -> Bool { places[id].flatMap { hosts[$0]?.isNear } ?? false }

    /// Whether the host counts as remote only because its name has not been resolved.
    func isUnsure(_ id: DownloadID) -> Bool {
        guard let host = places[id].flatMap({ hosts[$0] }) else { return false }
        return host.isName && !host.isNear
    }

    private func downloads(of numbers: Set<UInt32>) -> [DownloadID] {
        numbers.isEmpty ? [] : places.compactMap { numbers.contains($0.value) ? $0.key : nil }
    }

    // MARK: Queueing

    /// Sets a download's host, replacing an earlier one; without a host, the download counts as remote.
    mutating func enter(_ id: DownloadID, _ name: String?, in network: NetworkSnapshot) {
        if let old = host(of: id), old == name { return }
        leave(id)
        guard let name, !name.isEmpty else { return }
        let number = number(of: name, in: network)
        hosts[number]?.count += 1
        places[id] = number
    }

    mutating func leave(_ id: DownloadID) {
        guard let number = places.removeValue(forKey: id), var host = hosts[number] else { return }
        host.count -= 1
        hosts[number] = host
        // A resolved local name is kept until the network changes.
        if host.count == 0, !(host.isName && host.isNear) { forget(number, host) }
    }

    private mutating func number(of name: String, in network: NetworkSnapshot) -> UInt32 {
        if let number = numbers[name] { return number }
        lastNumber &+= 1
        let isNear = network.isLocal(name)
        let host = Host(name: name, isName: NetworkAddress(name) == nil, isNear: isNear)
        hosts[lastNumber] = host
        numbers[name] = lastNumber
        if host.isName, !isNear, !network.status.isOnline { unasked.append(name) }
        return lastNumber
    }

    private mutating func forget(_ number: UInt32, _ host: Host) {
        hosts[number] = nil
        numbers[host.name] = nil
    }

    // MARK: Resolving

    /// Judges all hosts by a new network; returns the downloads whose result changed. While offline, a name keeps its
    /// former result until it has been resolved again.
    mutating func judge(by network: NetworkSnapshot) -> [DownloadID] {
        unasked = []
        var changed: Set<UInt32> = []
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
        return downloads(of: changed)
    }

    /// Moves the hosts of these downloads to the front of the lookups.
    mutating func hasten(_ ids: some Sequence<DownloadID>) {
        let first = Set(ids.compactMap { host(of: $0) })
        guard unasked.count > 1, !first.isEmpty else { return }
        unasked = unasked.filter { !first.contains($0) } + unasked.filter { first.contains($0) }
    }

    /// The next name to resolve in this network.
    mutating func nextUnasked() -> String? {
        while let name = unasked.popLast() {
            if numbers[name] != nil { return name }
        }
        return nil
    }

    /// Stores the result of a lookup; returns the downloads whose result changed.
    mutating func settle(_ name: String, isNear: Bool) -> [DownloadID] {
        guard let number = numbers[name], let host = hosts[number], host.isNear != isNear else { return [] }
        hosts[number]?.isNear = isNear
        return downloads(of: [number])
    }
}
