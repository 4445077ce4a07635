import FerryCore

/// Downloads a file over a model link with a fixed number of connections, as `aria2c -x16 -s16 -k1M` does: equal parts
/// after the first response; a connection that is done takes half of the largest part that is left.
struct StaticRun {
    private struct Part {
        var position: Double
        var end: Double
        /// The end of the response.
        var asked: Double
    }

    static let smallest = Double(1 << 20)

    static func measure(_ link: ModelLink, connections: Int, seed: UInt64 = 1, longest: Double = 600) -> LinkResult {
        var network = ModelNetwork(link, seed: seed)
        var result = LinkResult(seconds: .infinity, bytes: 0)
        let size = Double(link.size)
        var parts = [0: Part(position: 0, end: size, asked: size)]
        network.request(0, bytes: size)
        let count = max(1, min(connections, Int(size / smallest)))
        while network.now < longest {
            let arrivals = network.pass()
            if parts.count < count, result.counts.isEmpty, let head = network.flows[0]?.response?.headAt,
                head <= network.now
            {
                result.counts.append(count)
                for id in 1..<count {
                    let (from, to) = (size * Double(id) / Double(count), size * Double(id + 1) / Double(count))
                    parts[id] = Part(position: from, end: to, asked: to)
                    network.request(id, bytes: to - from)
                }
                parts[0]?.end = size / Double(count)
            }
            for (id, bytes) in arrivals {
                guard let part = parts[id] else { continue }
                result.bytes += bytes
                parts[id]?.position = min(part.end, part.position + bytes)
                guard part.position + bytes >= part.end - 0.5 else { continue }
                if part.end < part.asked - 0.5 {
                    result.bytes += min(part.asked - part.position - bytes, network.flows[id]?.inFlight ?? 0)
                    network.flows[id] = nil
                }
                parts[id] = nil
                if parts.isEmpty {
                    result.seconds = network.now
                    return result
                }
                let largest = parts.max {
                    ($0.value.end - $0.value.position, $0.key) < ($1.value.end - $1.value.position, $1.key)
                }
                guard let (other, rest) = largest, rest.end - rest.position >= 2 * smallest else { continue }
                let middle = (rest.position + rest.end) / 2
                parts[other]?.end = middle
                parts[id] = Part(position: middle, end: rest.end, asked: rest.end)
                network.request(id, bytes: rest.end - middle)
            }
        }
        return result
    }
}
