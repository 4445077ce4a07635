/// Responses that do not match their own digest (RFC 9530 Content-Digest).
extension TransferMachine {
    /// A byte that was received in so many responses with a wrong digest will not be retried at this source.
    static let mostSpoiled = 3

    /// The response of this connection will be verified with its digest; the file is not finished before that.
    package mutating func checks(_ id: ConnectionID) { connections[id]?.body?.isChecked = true }

    /// The response of this connection did not match its digest: discards its written bytes.
    ///
    /// The ranges are withheld until ``allow(_:)``; then the connection ends with ``End/spoiled(expected:actual:)``.
    package mutating func forget(_ ranges: RangeSet<ByteCount>, on id: ConnectionID) {
        // A connection that was cut or released meanwhile may have written to a previous file.
        guard planner.segments[id] != nil else { return }
        planner.forget(ranges)
        var again = ranges
        for index in spoiled.indices {
            let before = spoiled[index]
            spoiled[index].formUnion(again)
            again.formIntersection(before)
        }
    }

    /// Releases forgotten ranges for fetching: the journal claims none of them any more.
    package mutating func allow(_ ranges: RangeSet<ByteCount>) { planner.allow(ranges) }

    /// Whether some bytes were received in ``mostSpoiled`` responses with a wrong digest.
    private var isHopeless: Bool { spoiled.last?.isEmpty == false }

    /// Whether a response that is being read will be verified with its digest.
    var isChecking: Bool { connections.values.contains { $0.body?.isChecked == true && !$0.isCut } }

    mutating func wasSpoiled(_ expected: String, _ actual: String, _ id: ConnectionID, at now: Duration, random: Double)
    {
        guard phase == .running || phase == .opening else { return }
        let phrase = ErrorPhrase(.wrongMessageDigest, expected, actual)
        let reason = Reason(.wrongMessageDigest, expected, actual)
        if isHopeless {
            if failedForGood(id, reason) {
                spoiled = spoiled.map { _ in RangeSet() }
                return
            }
            return end(DownloadError(.checksum, phrase, suggestion: ErrorPhrase(.runAgain)))
        }
        guard others(than: id) > 0 else { return wait(reason, wish: nil, code: .checksum, at: now, random: random) }
        note(Reason(.partFetchedAgain, reason))
        cut(id)
        notBefore = max(notBefore, now + .milliseconds(200))
    }
}
