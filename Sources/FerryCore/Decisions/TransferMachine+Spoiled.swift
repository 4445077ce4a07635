/// Answers whose bytes turn out not to be what their own digest says (RFC 9530 Content-Digest, A45).
extension TransferMachine {
    /// A byte that came this many times in an answer with a wrong digest is no accident any more.
    static let mostSpoiled = 3

    /// The answer that this connection reads is compared with its digest at its end: before, the file is not finished.
    package mutating func checks(_ id: ConnectionID) { change(id) { $0.isChecking = true } }

    /// The answer that this connection has read did not have its digest: what it wrote is not believed any more.
    ///
    /// It stays withheld until ``allow(_:)``; then the connection says ``End/spoiled(expected:actual:)``.
    package mutating func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        // One that was cut or released meanwhile may have read of a file that is not this one any more.
        guard planner.segments[id] != nil else { return }
        planner.forget(ranges)
        var again = ranges
        for index in spoiled.indices {
            let before = spoiled[index]
            spoiled[index].formUnion(again)
            again.formIntersection(before)
        }
        if !again.isEmpty { isHopeless = true }
    }

    /// The journal claims none of these bytes any more: they may be fetched again.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { planner.allow(ranges) }

    /// Some answer that is being read will be compared with its digest.
    var isChecking: Bool { connections.values.contains { $0.isChecking && !$0.isCut } }

    mutating func wasSpoiled(_ expected: String, _ actual: String, _ id: ConnectionID, at now: Duration, random: Double)
    {
        guard phase == .running || phase == .opening else { return }
        let phrase = ErrorPhrase(.wrongMessageDigest, expected, actual)
        let reason = Reason(.wrongMessageDigest, expected, actual)
        if isHopeless {
            if failedForGood(id, reason) {
                isHopeless = false
                spoiled = spoiled.map { _ in RangeSet() }
                return
            }
            return end(DownloadError(.checksum, phrase, suggestion: ErrorPhrase(.runAgain)))
        }
        guard others(than: id) > 0 else { return wait(reason, wish: nil, code: .checksum, at: now, random: random) }
        note(Reason(.partFetchedAgain, reason))
        connections[id]?.isCut = true
        notBefore = max(notBefore, now + .milliseconds(200))
    }
}
