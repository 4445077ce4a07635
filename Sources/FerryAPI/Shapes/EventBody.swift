package import FerryCore

/// A download's event in the API: `{"id", "session", "date", "number", "texts", "kind", …}`.
///
/// The payload of the kind is coded as in ``FerryCore/LocalizedEvent``, including the translatable `phrase`, so that
/// clients can restore the whole event.
package struct EventBody: Sendable, Hashable {
    package var event: DownloadEvent
    package var session: String

    package init(_ event: DownloadEvent, session: String) {
        self.event = event
        self.session = session
    }
}

extension EventBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case id, session, date, number, texts }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        session = try container.decode(String.self, forKey: .session)
        let told = try LocalizedEvent(from: decoder)
        event = DownloadEvent(
            id: DownloadID(rawValue: try container.decode(String.self, forKey: .id)),
            date: try container.decodeDate(forKey: .date), kind: told.kind,
            number: try container.decodeIfPresent(Int64.self, forKey: .number), reason: told.reason, onAcknowledge: nil)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event.id.rawValue, forKey: .id)
        try container.encode(session, forKey: .session)
        try container.encode(date: event.date, forKey: .date)
        try container.encode(event.number, forKey: .number)
        try container.encode(Translations { EventSentence.text(event, in: $0) }, forKey: .texts)
        try LocalizedEvent(event.kind, reason: event.reason).encode(to: encoder)
    }
}

/// The history of one download, oldest first.
package struct EventItems: Codable, Sendable, Hashable {
    package var items: [EventBody]
    package init(_ items: [EventBody]) { self.items = items }
}
