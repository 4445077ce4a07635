import FerryCore

extension World {
    mutating func check() {
        let all = file.values.reduce(RangeSet()) { $0.union($1) }
        if !machine.bytes.written.isSubset(of: all) { violations.append("believes in bytes that were never written") }
        if !machine.bytes.claimed.isSubset(of: machine.bytes.written) { violations.append("claims too much") }
        if !machine.bytes.written.intersection(withheld).isEmpty { violations.append("believes what was forgotten") }
    }

    mutating func finish() {
        outcome = .finished
        if !tasks.isEmpty { violations.append("finished with open connections") }
        guard let total = machine.bytes.total else { return violations.append("finished without a length") }
        let all = file.values.reduce(RangeSet()) { $0.union($1) }
        if isOfOnePiece, let content = file.first(where: { !$0.value.isEmpty })?.key,
            !origins.contains(where: { $0.size(of: content) == total })
        {
            violations.append("finished with \(total) bytes of content \(content)")
        }
        if all != RangeSet(0..<total) { violations.append("finished with \(all.byteCount) of \(total) bytes") }
    }

    /// Whether all bytes are of one content.
    var isOfOnePiece: Bool { file.values.count { !$0.isEmpty } <= 1 }
}
