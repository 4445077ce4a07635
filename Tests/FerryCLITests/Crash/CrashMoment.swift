import FerryTesting

/// The moment of a kill.
enum CrashMoment: Sendable {
    /// At the server's first request: names are taken and the first journal is written then.
    case firstRequest
    /// When the server has sent so many bytes in this run.
    case bytes(Int64)
    /// This long after the start, in any state.
    case time(Duration)

    /// Draws a moment; the number of the run makes each kind occur.
    ///
    /// - Parameter missing: The bytes that the file still lacks.
    static func draw(
        _ number: Int, _ trial: CrashTrial, missing: Int64, using random: inout SeededGenerator
    ) -> (moment: CrashMoment, isFast: Bool) {
        switch (number + Int(trial.seed)) % CrashTrial.killsEach {
        case 0: return (.firstRequest, false)
        case 1: return (.time(.milliseconds(Int.random(in: 0...1200, using: &random))), false)
        // Around the last bytes and the final name; the other bytes come at full speed.
        case 2: return (.bytes(max(0, missing - Int64.random(in: 0...400_000, using: &random))), true)
        // At full speed, far beyond the bytes that may be unsynced.
        case 3: return (.bytes(Int64.random(in: 0...max(1, missing), using: &random)), true)
        default: return (.bytes(Int64.random(in: 0...trial.span, using: &random)), false)
        }
    }

    /// Returns when the moment has come.
    ///
    /// - Parameter before: The server's traffic when the run began.
    func pass(on server: OriginServer, since before: Traffic) async throws {
        let (requests, sent) = (before.requestCount, before.bodyBytes)
        switch self {
        case .firstRequest: try await server.waitFor { $0.requestCount > requests }
        case .bytes(let count):
            try await server.waitFor { $0.requestCount > requests && $0.bodyBytes >= sent + count }
        // Any moment will do, and no event is awaited.
        case .time(let duration): try await Task.sleep(for: duration)
        }
    }
}
