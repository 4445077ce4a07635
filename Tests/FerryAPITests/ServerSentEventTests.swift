import FerryAPI
import Testing

@Suite("Server-sent events")
struct ServerSentEventTests {
    @Test(
        "EventStreamParser: an event is parsed as it was written, one byte at a time",
        arguments: ["", "a", "a\nb", "a\r\nb\n", "{\"a\":\"é 中\"}", ": x"])
    func roundTrip(data: String) throws {
        var parser = EventStreamParser()
        let sent = ServerSentEvent(id: "b-1", name: "state", data: data)
        // One byte at a time: chunks may end anywhere.
        var events: [ServerSentEvent] = []
        for byte in (ServerSentEvent.keepAlive + sent.text).utf8 { events += try parser.feed([byte]) }
        let expected = data.replacing("\r\n", with: "\n")
        #expect(events == [ServerSentEvent(id: "b-1", name: "state", data: expected)])
        #expect(parser.lastID == "b-1")
    }

    @Test("ServerSentEvent: line ends in id, name or data add no other field")
    func injection() throws {
        var parser = EventStreamParser()
        let sent = ServerSentEvent(id: "1\ndata: x", name: "a\r\nid: 9", data: "\n\nevent: evil")
        let events = try parser.feed(Array(sent.text.utf8))
        #expect(events.count == 1)
        #expect(events.first?.id == "1data: x")
        #expect(events.first?.data == "\n\nevent: evil")
    }

    @Test("EventStreamParser: an event beyond the limit is refused instead of collected")
    func bounded() {
        var parser = EventStreamParser(most: 100)
        #expect(throws: EventStreamParser.TooLong.self) {
            try parser.feed(repeatElement(UInt8(ascii: "x"), count: 101))
        }
    }

    @Test("EventStreamParser: lines end with LF, CR or CR LF, and unknown fields are ignored")
    func lines() throws {
        var parser = EventStreamParser()
        let events = try parser.feed(Array("\u{FEFF}data: 1\r\rretry: 5\r\ndata:2\r\ndata\n\n\n".utf8))
        #expect(events.map(\.data) == ["1", "2\n"])
    }

    @Test(
        "EventID: an id has a boot part and a number, and other texts give nil",
        arguments: [("a-1", true), ("a-b-7", true), ("-1", false), ("a", false), ("a-x", false)])
    func ids(text: String, isID: Bool) {
        #expect((EventID(text) != nil) == isID)
        if isID { #expect(EventID(text)?.description == text) }
    }
}
