extension Behaviour {
    /// Holds the whole response until the gate opens.
    public static func hold(_ gate: Gate) -> Behaviour {
        Behaviour { answer, _, _ in answer.before.append(.wait(gate)) }
    }

    /// Holds the content after this many bytes until the gate opens.
    public static func hold(after bytes: Int64, _ gate: Gate) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.wait(gate)], after: bytes) }
    }

    /// Delays the whole response. For the executable; tests use a gate.
    public static func delay(_ duration: Duration) -> Behaviour {
        Behaviour { answer, _, _ in answer.before.append(.delay(duration)) }
    }

    /// Pauses the content for this time after this many bytes.
    public static func pause(_ duration: Duration, after bytes: Int64) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.delay(duration)], after: bytes) }
    }

    /// Limits the content to this rate from this byte on; 1 is one byte per second (A28).
    public static func rate(_ bytesPerSecond: Int64, after bytes: Int64 = 0) -> Behaviour {
        Behaviour { answer, _, _ in answer.insert([.pace(bytesPerSecond: bytesPerSecond)], after: bytes) }
    }

    /// Sends no response and keeps the connection open (A28).
    public static let silence = Behaviour.raw(bytes: [], ending: .hang)

    /// Sends only the head (A28).
    public static let headOnly = Behaviour { answer, _, _ in
        answer.body = []
        answer.ending = .hang
    }

    /// Stops the content after this many bytes and keeps the connection open (A28).
    public static func stall(after bytes: Int64) -> Behaviour { .cut(after: bytes, .hang) }
}
