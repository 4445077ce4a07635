import Ferry
import Testing

@testable import FerryTerminal

@Suite("RepeatedEntries") struct RepeatedEntriesTests {
    private func item(_ url: String, _ destination: DownloadRequest.Destination = .directory("d")) throws
        -> RepeatedEntries.Item
    {
        let request = DownloadRequest(sources: [try DownloadURL(url)], destination: destination)
        return RepeatedEntries.Item(request: request, place: nil, subject: nil)
    }

    @Test("RepeatedEntries: an entry waits while one with the same URL and destination is in progress")
    func waits() throws {
        var entries = RepeatedEntries()
        let (first, other) = (try item("http://h/a"), try item("http://h/b"))
        #expect(entries.begin(first) == true)
        #expect(entries.begin(other) == true)
        #expect(try entries.begin(item("http://h/a", .file("d/x"))) == true, "another file")
        var checked = first.request
        checked.checksum = Checksum(algorithm: .md5, bytes: [UInt8](repeating: 0, count: 16))
        #expect(entries.begin(first) == false)
        #expect(entries.begin(.init(request: checked, place: nil, subject: nil)) == false)
        #expect(entries.end(other.request).map(\.request) == [])
        #expect(entries.end(first.request).map(\.request) == [first.request, checked])
        #expect(entries.begin(first) == true, "nothing of it is kept")
    }
}
