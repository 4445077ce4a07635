/// A complete file that does not have its digest, although another of its sources may have the right bytes.
///
/// First the bytes of mirrors are fetched again from the primary source. If that does not help, or there are none, a
/// source with samples that differ from the file becomes the primary one, and the download begins again with it. Each
/// step drops a source for good, and sources with equal samples are not tried, because their file would be the same.
extension TransferMachine {
    /// Records that the complete file does not have its digest. Returns the ranges that are forgotten, and withheld until
    /// ``allow(_:)``; `nil` if no other source is left, and the download ends with the error.
    package mutating func refuted(_ error: DownloadError) -> RangeSet<ByteCount>? {
        let lenders = fromMirrors.keys.sorted()
        var doubtful = RangeSet<ByteCount>()
        if !lenders.isEmpty, sources[primary].trust != .dropped {
            for ranges in fromMirrors.values { doubtful.formUnion(ranges) }
            for source in lenders where sources[source].trust != .dropped { drop(source, Reason(.digestRefuted)) }
            fromMirrors = [:]
            planner.forget(doubtful)
        } else if sources.indices.contains(where: { isUntried($0) }) {
            refutation = error
        } else {
            return nil
        }
        isFinishing = false
        phase = .opening
        return doubtful
    }

    /// Whether the source may have another file than the refuted one.
    private func isUntried(_ source: Int) -> Bool {
        source != primary && (sources[source].isRival || sources[source].trust == .unproven)
    }

    /// Returns the next order of the search for a source with another file.
    mutating func searchOrder(_ id: ConnectionID, _ error: DownloadError) -> Order {
        if let rival = sources.indices.first(where: { sources[$0].isRival }) {
            drop(primary, Reason(.digestRefuted))
            for index in sources.indices where sources[index].isRival { sources[index] = Source(trust: .unproven) }
            (primary, refutation) = (rival, nil)
            return .restart(Reason(.digestRefuted))
        }
        if let source = sources.indices.first(where: { isUntried($0) }) { return prove(source, on: id) }
        refutation = nil
        end(error)
        return .leave
    }
}
