import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The event stream of one client, from its first line to its end.
struct EventFeed: Sendable {
    let manager: DownloadManager
    let broadcaster: EventBroadcaster
    let settings: SettingsController
    let sets: SetKeeper
    /// `nil` for all sessions.
    let session: String?
    /// Whether the client is the session's app, and not an observer.
    let isOwn: Bool
    /// The last event that the client has received.
    let last: EventID?
    /// The maximum number of downloads in a snapshot, for clients that read the list page by page.
    let limit: Int

    /// The time without events after which a keep-alive is sent.
    static let mostSilence: Duration = .seconds(15)

    /// Writes events until the client disconnects or the daemon shuts down.
    ///
    /// `@concurrent`, like the methods of `ResponseBodyWriter`.
    @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
        let client = broadcaster.enter(session: session, isAttached: isOwn)
        defer { broadcaster.leave(client) }
        var progress = client.firstProgress
        var told: Set<Int64> = []
        var spoken = Duration.sinceStart
        var cursor: Int64
        if let known = broadcaster.cursor(after: last) {
            cursor = known
            // Sends the response head at once, which confirms the reconnection to the client.
            try await writer.write(ByteBuffer(string: ServerSentEvent.keepAlive))
        } else {
            cursor = try await begin(&writer, &told)
        }
        wakes: for await _ in client.wakes {
            while true {
                switch broadcaster.take(for: client, cursor: &cursor, progress: &progress) {
                case .end:
                    return
                case .reset:
                    cursor = try await begin(&writer, &told)
                    spoken = .sinceStart
                case .lines(let entries, let newest):
                    var buffer = ByteBuffer()
                    for entry in entries where entry.ending.map({ !told.contains($0) }) ?? true {
                        buffer.writeBytes(entry.bytes)
                    }
                    if let newest { buffer.writeBytes(newest) }
                    if buffer.readableBytes > 0 {
                        try await writer.write(buffer)
                        spoken = .sinceStart
                    }
                case .nothing:
                    if Duration.sinceStart - spoken >= Self.mostSilence {
                        try await writer.write(ByteBuffer(string: ServerSentEvent.keepAlive))
                        spoken = .sinceStart
                    }
                    continue wakes
                }
            }
        }
    }

    /// Sends a snapshot and all unacknowledged final events. Returns the cursor to continue from.
    @concurrent private func begin(_ writer: inout any ResponseBodyWriter, _ told: inout Set<Int64>) async throws
        -> Int64
    {
        // The new snapshot supersedes the events sent before.
        told = []
        // Read before the snapshot, so that changes made in the meantime are sent after it. Every state event contains the whole
        // row, so a repeated one is harmless.
        let place = broadcaster.lastID
        // Read before the rows, so that no client receives a final event before the row of its download.
        var ends: [NumberedEvent] = []
        while case let some = try await manager.pendingEvents(after: ends.last?.number ?? 0), !some.isEmpty {
            ends += some
        }
        let position = manager.position
        let page = try await manager.page(RowFilter(session: session), limit: max(1, limit))
        let snapshot = StreamEvent.Snapshot(
            items: page.rows.prefix(limit).map { manager.listed($0, asOf: position) }, total: page.total,
            settings: settings.current.body, network: manager.network, sets: sets.all.isEmpty ? nil : sets.all,
            asOf: position)
        try await send(.reset(snapshot), place, to: &writer)
        for end in ends where session == nil || end.session == session {
            var event = end.event
            event.number = end.number
            told.insert(end.number)
            try await send(.ended(EventBody(event, session: end.session)), nil, to: &writer)
        }
        try await send(.upToDate, nil, to: &writer)
        return place.number
    }

    @concurrent private func send(_ event: StreamEvent, _ id: EventID?, to writer: inout any ResponseBodyWriter)
        async throws
    {
        try await writer.write(ByteBuffer(string: try event.sent(id: id).text))
    }
}

extension API {
    func events(_ call: APIRequest) throws -> Response {
        let items = try call.items(["after", "session", "limit"])
        guard call.http.method == .get else { throw Problem(.methodNotAllowed) }
        let header = HTTPField.Name("Last-Event-ID").flatMap { call.http.headers[$0] }
        let session = try call.session(in: items)
        let feed = EventFeed(
            manager: manager, broadcaster: broadcaster, settings: settings, sets: sets, session: session,
            isOwn: session == call.session,
            last: (header ?? items.text("after")).flatMap { EventID($0) },
            limit: try items.number("limit", in: 0...FerryAPI.mostEntries) ?? FerryAPI.mostEntries)
        return Response(
            status: .ok, headers: [.contentType: ServerSentEvent.mediaType, .cacheControl: "no-store"],
            body: ResponseBody { writer in
                try await feed.write(to: &writer)
                try await writer.finish(nil)
            })
    }
}
