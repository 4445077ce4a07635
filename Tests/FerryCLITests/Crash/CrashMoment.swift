import FerryTesting

/// When a run is killed.
enum CrashMoment: Sendable {
    /// As soon as the server has its first request: names are taken and the first journal is written then.
    case firstRequest
    /// When the server has sent so many bytes in this run.
    case bytes(Int64)
    /// So long after the start, whatever it does then.
    case time(Duration)

    /// Draws one; the number of the run sees to it that each kind has its turn.
    ///
    /// - Parameter missing: The bytes that the file still lacks.
    static func draw(
        _ number: Int, _ trial: CrashTrial, missing: Int64, using random: inout SeededRandom
    ) -> (moment: CrashMoment, isFast: Bool) {
        switch (number + Int(trial.seed)) % CrashTrial.killsEach {
        case 0: return (.firstRequest, false)
        case 1: return (.time(.milliseconds(Int.random(in: 0...1200, using: &random))), false)
        // Where the last bytes come and the file gets its name; nobody waits for all the others.
        case 2: return (.bytes(max(0, missing - Int64.random(in: 0...400_000, using: &random))), true)
        // As fast as it goes, far beyond what may be unsynced.
        case 3: return (.bytes(Int64.random(in: 0...max(1, missing), using: &random)), true)
        default: return (.bytes(Int64.random(in: 0...trial.span, using: &random)), false)
        }
    }

    /// Returns when it has come.
    ///
    /// - Parameter before: What the server had seen when the run began.
    func pass(on server: OriginServer, since before: Traffic) async throws {
        let (requests, sent) = (before.requestCount, before.bodyBytes)
        switch self {
        case .firstRequest: try await server.waitFor { $0.requestCount > requests }
        case .bytes(let count):
            try await server.waitFor { $0.requestCount > requests && $0.bodyBytes >= sent + count }
        // The moment is what is tried: any will do, and none is waited for.
        case .time(let duration): try await Task.sleep(for: duration)
        }
    }
}
