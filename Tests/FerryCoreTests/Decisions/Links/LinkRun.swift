import FerryCore
import HTTPTypes

/// What a download over a model link took.
struct LinkResult {
    var seconds: Double
    /// Bytes received, and those in flight when a connection was closed.
    var bytes: Double
    /// The numbers of delivering connections, each tenth of a second.
    var counts: [Int] = []
    var requests = 0
}

/// Downloads a file over a model link, as Ferry does: plays the driver for a ``TransferMachine``.
struct LinkRun {
    private var machine: TransferMachine
    private var network: ModelNetwork
    private var asked: [Int: TransferMachine.Fetch] = [:]
    private var result = LinkResult(seconds: .infinity, bytes: 0)
    private let representation: Representation
    private var mustTick = false
    /// Bytes that are too few for a piece: the network counts in fractions.
    private var rest: [Int: Double] = [:]

    static func measure(_ link: ModelLink, connections: Int = 16, seed: UInt64 = 1, longest: Double = 600) -> LinkResult
    {
        var run = LinkRun(link, connections: connections, seed: seed)
        return run.run(longest: longest)
    }

    private init(_ link: ModelLink, connections: Int, seed: UInt64) {
        var settings = TransferMachine.Settings()
        (settings.maxConnections, settings.claims) = (connections, false)
        machine = TransferMachine(settings: settings)
        network = ModelNetwork(link, seed: seed)
        var head = ResponseHead(status: 200)
        head.headers[.eTag] = "\"1\""
        head.headers[.contentLength] = "\(link.size)"
        representation = Representation(head, total: link.size)
    }

    private var time: Duration { .microseconds(Int64((network.now * 1e6).rounded())) }

    private mutating func run(longest: Double) -> LinkResult {
        var ticks = 0
        while network.now < longest {
            if mustTick || network.now >= Double(ticks) * 0.1 {
                if network.now >= Double(ticks) * 0.1 {
                    ticks += 1
                    result.counts.append(machine.activeConnections)
                }
                mustTick = false
                for command in machine.tick(at: time) {
                    switch command {
                    case .open(let id): next(id)
                    case .cut(let id):
                        machine.ended(id, .stopped, at: time, random: 0.5)
                        leave(id)
                    case .checkpoint:
                        machine.checkpointEnded(machine.beginCheckpoint(at: time), succeeded: true, at: time)
                    case .finish:
                        result.seconds = network.now
                        return result
                    case .fail: return result
                    }
                }
                if mustTick { continue }
            }
            let arrivals = network.pass()
            for id in network.flows.keys.sorted() {
                guard let flow = network.flows[id], !flow.hasHead, let response = flow.response,
                    response.headAt <= network.now
                else { continue }
                network.flows[id]?.hasHead = true
                answer(ConnectionID(rawValue: id))
            }
            for (id, bytes) in arrivals { arrive(bytes, ConnectionID(rawValue: id)) }
        }
        return result
    }

    private mutating func next(_ id: ConnectionID) {
        switch machine.next(for: id, at: time) {
        case .fetch(let fetch):
            result.requests += 1
            asked[id.rawValue] = fetch
            rest[id.rawValue] = 0
            var bytes = network.link.size
            if case .range(let range) = fetch.ask { bytes = range.upperBound - range.lowerBound }
            network.request(id.rawValue, bytes: Double(bytes))
        default: leave(id)
        }
    }

    private mutating func leave(_ id: ConnectionID) {
        close(id)
        machine.left(id, at: time)
        mustTick = true
    }

    /// Closes a connection in the middle of a response: what is in flight is lost.
    private mutating func close(_ id: ConnectionID) {
        if let flow = network.flows[id.rawValue], let response = flow.response, flow.hasHead {
            result.bytes += min(response.left, flow.inFlight)
        }
        network.flows[id.rawValue] = nil
    }

    private mutating func answer(_ id: ConnectionID) {
        guard let fetch = asked[id.rawValue] else { return }
        var verdict = ResponseVerdict.whole(representation)
        if case .range(let range) = fetch.ask { verdict = .part(range, representation) }
        switch machine.headReceived(verdict, on: id, at: time, random: 0.5) {
        case .begin, .read, .restartWith: break
        default:
            machine.ended(id, .stopped, at: time, random: 0.5)
            leave(id)
        }
    }

    private mutating func arrive(_ amount: Double, _ id: ConnectionID) {
        guard network.flows[id.rawValue] != nil else { return }
        let all = amount + (rest[id.rawValue] ?? 0)
        let isLast = network.flows[id.rawValue]?.response.map { $0.left < 0.5 } == true
        var bytes = ByteCount(isLast ? (all + 0.5).rounded(.down) : all.rounded(.down))
        rest[id.rawValue] = all - Double(bytes)
        guard bytes > 0 else { return }
        result.bytes += Double(bytes)
        machine.arrived(bytes, on: id, at: time)
        while bytes > 0 {
            switch machine.place(bytes, on: id) {
            case .stop: return again(id, .stopped)
            case .skip(let count): bytes -= count
            case .write(let range):
                machine.wrote(on: id)
                bytes -= range.upperBound - range.lowerBound
            }
        }
        if machine.wantsTick { mustTick = true }
        if isLast { return again(id, .complete) }
        if !machine.asks(id, at: time) { again(id, .stopped) }
    }

    private mutating func again(_ id: ConnectionID, _ end: TransferMachine.End) {
        machine.ended(id, end, at: time, random: 0.5)
        mustTick = true
        if end == .complete { network.flows[id.rawValue]?.response = nil } else { close(id) }
        next(id)
    }
}
