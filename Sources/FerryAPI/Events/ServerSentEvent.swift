/// An event of a `text/event-stream` (WHATWG HTML §9.2).
package struct ServerSentEvent: Sendable, Hashable {
    /// The id that a reconnecting client sends in `Last-Event-ID`; `nil` leaves the last id unchanged.
    package var id: String?
    /// The event name; `message` by default.
    package var name: String
    package var data: String

    package static let mediaType = "text/event-stream"

    package init(id: String? = nil, name: String, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// The lines of the event, including the empty line that ends it.
    package var text: String {
        var text = ""
        text.reserveCapacity(data.utf8.count + 48)
        if let id { text += "id: \(Self.oneLine(id))\n" }
        text += "event: \(Self.oneLine(name))\n"
        // Split by bytes, because CR LF is one Character.
        var rest = data[...].utf8
        while true {
            let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            text += "data: "
            text += Substring(rest[..<(end ?? rest.endIndex)])
            text += "\n"
            guard let end else { break }
            var next = rest.index(after: end)
            if rest[end] == UInt8(ascii: "\r"), next < rest.endIndex, rest[next] == UInt8(ascii: "\n") {
                next = rest.index(after: next)
            }
            rest = rest[next...]
        }
        return text + "\n"
    }

    /// A comment that keeps an idle connection open; clients ignore it.
    package static let keepAlive = ":\n\n"

    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" && $0 != "\0" }))
    }
}

/// The id of an event in the stream: boot identifier and number. Its text is `BOOT-NUMBER`.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The boot identifier: letters and digits, different after each start of the daemon.
    package var boot: String
    /// The number of the event, which ascends from 1 within one boot.
    package var number: Int64

    package init(boot: String, number: Int64) {
        self.boot = boot
        self.number = number
    }

    /// Returns `nil` when the text is malformed.
    package init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")),
            let number = Int64(text[text.index(after: dash)...]), number >= 0,
            dash > text.startIndex
        else { return nil }
        self.init(boot: String(text[..<dash]), number: number)
    }

    package var description: String { "\(boot)-\(number)" }
}

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
