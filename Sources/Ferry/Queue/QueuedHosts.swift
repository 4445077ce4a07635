import FerryCore

/// The hosts of queued downloads, and which of them are near: this machine, or reached without the way to the outside.
///
/// An address is judged by the network as it is. A name is far, unless it was looked up while there is no way to the
/// outside, and found to be near. Each host is here once, however many downloads it has: there may be 100,000 of them.
struct QueuedHosts: Sendable {
    private struct Host: Sendable {
        let name: String
        /// What it is must be looked up.
        let isName: Bool
        var isNear: Bool
        /// How many downloads are of it.
        var count = 0
    }
    private var hosts: [UInt32: Host] = [:]
    private var numbers: [String: UInt32] = [:]
    private var lastNumber: UInt32 = 0
    /// The number of each download's host.
    private var places: [DownloadID: UInt32] = [:]
    /// Names that were not looked up in this network, the last first.
    private var unasked: [String] = []

    // MARK: Asking

    func host(of id: DownloadID) -> String? { places[id].flatMap { hosts[$0]?.name } }

    func isNear(_ id: DownloadID) -> Bool { places[id].flatMap { hosts[$0]?.isNear } ?? false }

    /// Whether it is far for as long as nobody has found out otherwise.
    func isUnsure(_ id: DownloadID) -> Bool {
        guard let host = places[id].flatMap({ hosts[$0] }) else { return false }
        return host.isName && !host.isNear
    }

    private func downloads(of numbers: Set<UInt32>) -> [DownloadID] {
        numbers.isEmpty ? [] : places.compactMap { numbers.contains($0.value) ? $0.key : nil }
    }

    // MARK: Coming and going

    /// A download is of this host, instead of the one before; without one it is far.
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
        // What was found out about a name stays for as long as the network does.
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

    // MARK: Finding out

    /// The network is another one; the downloads for which that changes something. While there is no way to the outside, a
    /// name counts as what it was until it has been looked up anew.
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

    /// The hosts of these are looked up before all others.
    mutating func hasten(_ ids: some Sequence<DownloadID>) {
        let first = Set(ids.compactMap { host(of: $0) })
        guard unasked.count > 1, !first.isEmpty else { return }
        unasked = unasked.filter { !first.contains($0) } + unasked.filter { first.contains($0) }
    }

    /// A name that nobody has looked up in this network.
    mutating func nextUnasked() -> String? {
        while let name = unasked.popLast() {
            if numbers[name] != nil { return name }
        }
        return nil
    }

    /// A name was looked up; the downloads for which that changes something.
    mutating func settle(_ name: String, isNear: Bool) -> [DownloadID] {
        guard let number = numbers[name], let host = hosts[number], host.isNear != isNear else { return [] }
        hosts[number]?.isNear = isNear
        return downloads(of: [number])
    }
}
