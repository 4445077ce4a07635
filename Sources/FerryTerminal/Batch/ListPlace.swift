package import FerryCore

/// The place of an entry in one of the run's lists.
package struct ListPlace: Sendable, Hashable {
    /// The index of the list.
    package var list: Int
    /// The line of its URLs, from 1; in a Metalink document, the number of the file.
    package var line: Int
    /// The offset of that line in the list; 0 in a document.
    package var offset: Int
    /// The number of the entry among the arguments and entries of the run, from 1.
    package var number: Int

    /// With `--retry-from`, the entry in the list of the earlier run. Not encoded, because it is read again with the line.
    package var earlier: URLList.Earlier?

    package init(list: Int, line: Int, offset: Int, number: Int, earlier: URLList.Earlier? = nil) {
        (self.list, self.line, self.offset, self.number) = (list, line, offset, number)
        self.earlier = earlier
    }

    /// The identity of an entry: its list and its line.
    package struct Key: Sendable, Hashable, Comparable {
        package var list: Int
        package var line: Int

        package init(list: Int, line: Int) { (self.list, self.line) = (list, line) }

        package static func < (left: Key, right: Key) -> Bool { (left.list, left.line) < (right.list, right.line) }
    }

    package var key: Key { Key(list: list, line: line) }
    /// The place from which to continue reading the list; `nil` for its start.
    var start: URLList.Place? { offset > 0 ? URLList.Place(line: line, offset: offset) : nil }
}

/// Encoded in the short form `[list, line, offset, number]`, because a checkpoint contains a place for each open entry.
extension ListPlace: Codable {
    package init(from decoder: any Decoder) throws {
        let numbers = try [Int](from: decoder)
        guard numbers.count == 4, numbers.allSatisfy({ 0...(Int.max >> 2) ~= $0 }), numbers[1] > 0 else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no place"))
        }
        self.init(list: numbers[0], line: numbers[1], offset: numbers[2], number: numbers[3])
    }

    package func encode(to encoder: any Encoder) throws { try [list, line, offset, number].encode(to: encoder) }
}

/// Encoded as `[list, line]`.
extension ListPlace.Key: Codable {
    package init(from decoder: any Decoder) throws {
        let numbers = try [Int](from: decoder)
        guard numbers.count == 2, numbers.allSatisfy({ $0 >= 0 }) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no key"))
        }
        self.init(list: numbers[0], line: numbers[1])
    }

    package func encode(to encoder: any Encoder) throws { try [list, line].encode(to: encoder) }
}
