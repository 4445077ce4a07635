extension Behaviour {
    /// The whole answer waits for the gate; nothing is sent before.
    public static func hold(_ gate: Gate) -> Behaviour {
        Behaviour { answer, _, _ in answer.before.append(.wait(gate)) }
    }

    /// The content stops after so many bytes until the gate is opened.
    public static func hold(after bytes: Int64, _ gate: Gate) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.wait(gate)], after: bytes) }
    }

    /// The whole answer comes so much later: for the executable; tests take a gate.
    public static func delay(_ duration: Duration) -> Behaviour {
        Behaviour { answer, _, _ in answer.before.append(.delay(duration)) }
    }

    /// The content pauses for so long after so many bytes.
    public static func pause(_ duration: Duration, after bytes: Int64) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.delay(duration)], after: bytes) }
    }

    /// The content comes at this rate, from this byte on: 1 is one byte a second (A28).
    public static func rate(_ bytesPerSecond: Int64, after bytes: Int64 = 0) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.pace(bytesPerSecond: bytesPerSecond)], after: bytes) }
    }

    /// Nothing is ever answered; the connection stays open (A28).
    public static let silence = Behaviour.raw(bytes: [], ending: .hang)

    /// The head comes, then nothing more (A28).
    public static let headOnly = Behaviour { answer, _, _ in
        answer.body = []
        answer.ending = .hang
    }

    /// The content stops after so many bytes and the connection stays open (A28).
    public static func stall(after bytes: Int64) -> Behaviour { .cut(after: bytes, .hang) }
}
