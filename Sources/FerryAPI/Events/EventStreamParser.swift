/// An incremental parser for `text/event-stream` (WHATWG HTML §9.2.6).
package struct EventStreamParser: Sendable {
    /// An event exceeded the maximum size.
    package struct TooLong: Error, Sendable, Hashable {}

    private let most: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var name = ""
    private var id: String?
    private var endedWithReturn = false
    private var isFirst = true

    /// The last event id seen, for `Last-Event-ID`.
    package private(set) var lastID: String?

    /// - Parameter most: The maximum size of one event in bytes.
    package init(most: Int = 16 << 20) { self.most = most }

    /// Returns the events that these bytes complete.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            if endedWithReturn {
                endedWithReturn = false
                if byte == UInt8(ascii: "\n") { continue }
            }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                endedWithReturn = byte == UInt8(ascii: "\r")
                if let event = endLine() { events.append(event) }
            } else {
                line.append(byte)
                if line.count + data.count > most { throw TooLong() }
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirst {
            isFirst = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        if colon == 0 { return nil }
        let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch field {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            hasData = true
            data.append(contentsOf: value)
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            data.removeAll(keepingCapacity: true)
            hasData = false
            name = ""
            id = nil
        }
        if let id { lastID = id }
        guard hasData else { return nil }
        return ServerSentEvent(
            id: id, name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self))
    }
}
