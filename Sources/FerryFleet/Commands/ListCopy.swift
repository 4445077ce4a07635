import FerryCore
import FerryTerminal

/// Reads a list and produces the input of COPY, one piece at a time, so that memory does not grow with the list.
struct ListCopy {
    /// Rows of one partition.
    struct Piece: Sendable, Equatable {
        var part: Int64
        /// Whether the piece is the first of its partition.
        var isFirst: Bool
        var bytes: [UInt8]
    }

    /// The maximum number of rows in a piece. A transaction with so many rows takes a few tens of milliseconds.
    private static let pieceRows: Int64 = 10_000

    private var reader: ListReader
    private let batch: Int
    private let partRows: Int64
    /// The number of rows so far.
    private(set) var total: Int64 = 0
    private let onProblem: (URLList.Problem) -> Void

    init(_ list: ListFile, batch: Int, partRows: Int64, onProblem: @escaping (URLList.Problem) -> Void) {
        reader = ListReader(list)
        (self.batch, self.partRows, self.onProblem) = (batch, partRows, onProblem)
    }

    /// Returns the next piece; `nil` at the end of the list.
    mutating func next() throws(UsageError) -> Piece? {
        let first = total
        var bytes: [UInt8] = []
        while total - first < Self.pieceRows, bytes.count < 8 << 20, total == first || total % partRows != 0,
            let found = try reader.next()
        {
            switch found.item {
            case .problem(let problem): onProblem(problem)
            case .entry(let entry):
                do throws(TextError) {
                    let row = try FleetRow.columns(of: entry)
                    total += 1
                    append(row.urls, row.checksum, to: &bytes)
                } catch { onProblem(URLList.Problem(line: entry.line, reason: error.reason)) }
            }
        }
        if total == first { return nil }
        return Piece(part: first / partRows, isFirst: first % partRows == 0, bytes: bytes)
    }

    private func append(_ urls: String, _ checksum: String?, to bytes: inout [UInt8]) {
        bytes += Array("\(batch)\t\(total)\t".utf8)
        for byte in urls.utf8 {
            switch byte {
            case 0x09: bytes += Array("\\t".utf8)
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(0x09)
        bytes += Array((checksum ?? "\\N").utf8)
        bytes.append(0x0A)
    }
}
