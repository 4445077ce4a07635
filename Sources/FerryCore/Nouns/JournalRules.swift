/// The rules of a request that its journal records, so that they also apply when the download is resumed with resume data, when its
/// part file is adopted, and when the list is rebuilt. Encoded as the members of ``DownloadRequest`` that differ from their
/// defaults.
///
/// Because a journal may come from another user, it has no rules that decide whom the download trusts or what it may do: no proxy,
/// certificates or headers, and no object to upload to.
package struct JournalRules: Hashable, Sendable {
    private var request = DownloadRequest.plain

    /// The rules of a request; `nil` if all are defaults.
    package init?(of given: DownloadRequest) {
        for property in Self.properties { property.copy(given, &request) }
        if request == .plain { return nil }
    }

    package var onConflict: ConflictRule { request.onConflict }

    /// Sets the rules in another request.
    package func apply(to other: inout DownloadRequest) {
        for property in Self.properties { property.copy(request, &other) }
    }

    private static let properties = DownloadRequest.properties.filter { members.contains($0.key) }

    private static let members: Set<DownloadRequest.CodingKeys> = [
        .onConflict, .onDuplicate, .maxBytes, .expectedBytes, .maxRedirects, .stallTimeout, .minSpeed, .maxRetries,
        .minFreeBytes, .usesServerTime, .recordsDigests, .addressFamily, .connectTimeout, .userAgent,
    ]
}

extension JournalRules: Codable {
    /// Ignores invalid rules, because the journal is valid without them.
    package init(from decoder: any Decoder) throws {
        guard let given = try? DownloadRequest(from: decoder) else { return }
        for property in Self.properties where property.isWithinBounds(given) { property.copy(given, &request) }
        if (try? request.checkValues()) == nil { request.connection.userAgent = nil }
    }

    package func encode(to encoder: any Encoder) throws { try request.encode(to: encoder) }
}
