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
