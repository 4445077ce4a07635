package import FerryCore

// Bodies of actions on many downloads.

/// The downloads that a request applies to, by identifiers or by words that a user typed. A word is compared first with
/// identifiers, then with names, then with the beginnings of identifiers; `["all"]` selects all downloads of the session whose
/// state permits the action.
package protocol SelectingBody: ClientBody {
    var ids: [String]? { get }
    var words: [String]? { get }
}

/// `POST /downloads/find`, `pause`, `resume`, `cancel`, `restart`.
package struct SelectionBody: SelectingBody, Encodable, Hashable {
    package var ids: [String]?
    package var words: [String]?
    package init(ids: [String]? = nil, words: [String]? = nil) {
        self.ids = ids
        self.words = words
    }
    package enum CodingKeys: String, CodingKey, CaseIterable { case ids, words }
}

/// `POST /downloads/remove`: downloads to remove from the list. Downloads that have not ended are cancelled first. With `which`,
/// only ended downloads of this kind are removed.
package struct RemovalBody: SelectingBody, Encodable, Hashable {
    package var ids: [String]?
    package var words: [String]?
    package var which: ClearFilter?
    package var deleteFiles: Bool?
    package init(
        _ ids: [String]? = nil, words: [String]? = nil, which: ClearFilter? = nil, deleteFiles: Bool? = nil
    ) {
        self.ids = ids
        self.words = words
        self.which = which
        self.deleteFiles = deleteFiles
    }
    package enum CodingKeys: String, CodingKey, CaseIterable { case ids, words, which, deleteFiles }
}

/// `POST /downloads/change`: the same change for several downloads.
package struct ChangeBody: SelectingBody, Encodable, Hashable {
    package var ids: [String]?
    package var words: [String]?
    package var change: RequestChange
    package init(_ ids: [String]? = nil, words: [String]? = nil, change: RequestChange) {
        self.ids = ids
        self.words = words
        self.change = change
    }
    package enum CodingKeys: String, CodingKey, CaseIterable { case ids, words, change }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ids = try container.decodeIfPresent([String].self, forKey: .ids)
        words = try container.decodeIfPresent([String].self, forKey: .words)
        change = try container.decode(Strict<RequestChange>.self, forKey: .change).body
    }
}

/// `POST /downloads/move`: a new place for several downloads, in the order in which the request names them. With `words`, the
/// download before or after which they are placed is also named by a word.
package struct MoveBody: SelectingBody, Encodable, Hashable {
    package var ids: [String]?
    package var words: [String]?
    package var place: ListPlacement
    package init(_ ids: [String]? = nil, words: [String]? = nil, to place: ListPlacement) {
        self.ids = ids
        self.words = words
        self.place = place
    }
    package enum CodingKeys: String, CodingKey, CaseIterable { case ids, words, to }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ids = try container.decodeIfPresent([String].self, forKey: .ids)
        words = try container.decodeIfPresent([String].self, forKey: .words)
        place = try ListPlacement(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(ids, forKey: .ids)
        try container.encodeIfPresent(words, forKey: .words)
        try place.encode(to: encoder)
    }
}

/// The result of an action on several downloads.
package struct ActionCount: Codable, Sendable, Hashable {
    /// The number of downloads that are now in the state that the action leads to.
    package var changed: Int
    /// The failures for the other downloads, in the order of the request; `nil` if there are none.
    package var failures: [ActionFailure]?
    /// The identifiers of downloads that were already in that state; only for a request with words, `nil` if there are none.
    package var unchanged: [String]?
    /// The downloads that match the words of the request, in the order of the words. They are in the state after the action or,
    /// for a removal, before it.
    package var downloads: [ListedDownload]?

    package init(_ changed: Int, failures: [ActionFailure] = []) {
        self.changed = changed
        self.failures = failures.isEmpty ? nil : failures
    }
}

/// The failure of an action on one of several downloads.
package struct ActionFailure: Codable, Sendable, Hashable {
    package var id: String
    package var error: DownloadError

    package init(_ id: String, _ error: DownloadError) {
        self.id = id
        self.error = error
    }
}
