/// What limits the speed: the machine's part of the facts.
extension TransferMachine {
    /// What limits the speed now; `nil` if that is not known, or nothing is transferred.
    package var bottleneck: Bottleneck? { phase.isActive ? limits.bottleneck : nil }

    /// Whether the server sends no ranges, so that a break costs the time for all bytes, although they are kept.
    package var lacksRanges: Bool { file.representation?.refusesRanges == true || planner.repeatedBytes > 0 }

    /// Whether the download waits for others, which have all connections to its host.
    package var waitsForPermit: Bool { connections.values.contains(where: \.waitsForPermit) }

    /// Whether ``observed(_:rateLimit:at:)`` is to be called.
    package func isObservationDue(at now: Duration) -> Bool { limits.isDue(at: now) }

    /// Records what the system knows of a connection; `id` is `nil` for requests before there are connections.
    package mutating func observed(_ socket: SocketFacts, on id: ConnectionID?) {
        limits.present.sockets.add(socket)
        if let id, let trip = socket.shortestTrip { connections[id]?.shortestTrip = trip.seconds }
        latency.observed(socket.shortestTrip)
    }

    /// A connection waits for other downloads, not for the server; afterwards ``next(for:at:)`` is called again.
    package mutating func waitsForPermit(_ id: ConnectionID) { change(id) { $0.activity = .waitingForPermit } }

    /// Ends the observation of about a second.
    ///
    /// - Parameter rateLimit: The lowest limit of the user in bytes per second; `nil` for none.
    package mutating func observed(_ processor: ProcessorFacts?, rateLimit: ByteCount?, at now: Duration) {
        for (id, connection) in connections {
            let new = connection.bytes - connection.observedBytes
            if new > 0 { limits.present.carried[id] = new }
            connections[id]?.observedBytes = connection.bytes
        }
        limits.present.surroundings.processor = processor
        limits.present.surroundings.rateLimit = rateLimit
        limits.present.surroundings.ceiling = policy.hasRefusals ? policy.ceiling : nil
        limits.present.surroundings.gain = policy.lastGain
        watch(at: now)
        limits.observed(at: now)
    }

    /// Adds the time of the connections since the last call.
    mutating func watch(at now: Duration) {
        let seconds = limits.elapsed(at: now)
        for connection in connections.values where !connection.isCut {
            switch connection.activity {
            case .idle, .waitingForPermit: break
            case .reading: limits.present.times.connected += seconds
            case .asking(_, let since):
                limits.present.times.connected += seconds
                limits.present.times.awaited += seconds
                limits.present.times.firstByte = max(limits.present.times.firstByte, (now - since).seconds)
            }
        }
    }
}
