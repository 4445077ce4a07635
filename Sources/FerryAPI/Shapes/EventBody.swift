package import FerryCore

/// A download's event in the API: the members of ``FerryCore/DownloadEvent``, its session, and its sentence in every
/// language.
package struct EventBody: Sendable, Hashable {
    package var event: DownloadEvent
    package var session: String

    package init(_ event: DownloadEvent, session: String) {
        self.event = event
        self.session = session
    }
}

extension EventBody: Codable {
    private enum CodingKeys: String, CodingKey { case session, texts }

    package init(from decoder: any Decoder) throws {
        event = try DownloadEvent(from: decoder)
        session = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .session)
    }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(session, forKey: .session)
        try container.encode(Translations { EventSentence.text(event, in: $0) }, forKey: .texts)
    }
}

/// The history of one download, oldest first.
package struct EventItems: Codable, Sendable, Hashable {
    package var items: [EventBody]
    package init(_ items: [EventBody]) { self.items = items }
}
