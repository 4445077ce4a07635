import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Converts rows to and from columns of the table `download`.
enum CatalogueColumns {
    /// A column and its new value.
    typealias Assignment = (column: String, value: (any ColumnValue)?)

    /// The columns that ``row(_:)`` reads, in the order in which it reads them.
    static let selection = """
        id, session, priority, position, state, details, name, path, part, completed, total, request, label, userInfo, \
        createdAt, endedAt, finished, published, announced, attempts, retryAt
        """

    // MARK: Writing

    /// All columns of a new row, in the same order for all rows. Each column occurs once, because an INSERT would use only the
    /// first of two assignments.
    static func assignments(_ row: CatalogueRow) throws -> [Assignment] {
        guard row.id.canBeStored else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableIdentifier))
        }
        let fields: [RowField] = [
            .name(row.name, path: row.path),
            .progress(completedBytes: row.completedBytes, totalBytes: row.totalBytes),
            .request(row.request, hasSecrets: row.hasSecrets),
            .label(row.label), .userInfo(row.userInfo), .attempts(row.attempts, retryAt: row.retryAt), .part(row.part),
            .announced(row.announced),
        ]
        return try stateAssignments(row.state, row.pauseReason, row.waitError) + [
            ("id", row.id.rawValue), ("session", row.session.storable), ("priority", row.key.priority),
            ("position", row.key.position), ("createdAt", row.createdAt.storedSeconds),
        ] + fields.flatMap(assignments) + [
            ("endedAt", row.endedAt?.storedSeconds),
            ("finished", row.finished.map { try StoredText.text($0) }),
            ("published", row.published.map { try StoredText.text($0) }),
        ]
    }

    /// The columns of a field; if a column occurs twice, an update uses the last assignment.
    static func assignments(_ field: RowField) throws -> [Assignment] {
        switch field {
        case .state(let state):
            return try stateAssignments(state)
                + (state.isFinal ? [] : [("endedAt", nil), ("finished", nil)])
        case .paused(let reason):
            return try stateAssignments(.paused, reason) + [("endedAt", nil), ("finished", nil)]
        case .waiting(let reason, let error):
            return try stateAssignments(.waiting(reason), nil, error) + [("endedAt", nil), ("finished", nil)]
        case .name(let name, let path):
            return [("name", name.storable), ("path", path)]
        case .progress(let completed, let total):
            return [("completed", max(0, completed)), ("total", total.map { max(0, $0) })]
        case .request(let request, let hasSecrets): return try assignments(request, hasSecrets)
        case .label(let label): return [("label", label?.storable)]
        case .userInfo(let info): return [("userInfo", info.isEmpty ? nil : try StoredText.text(info))]
        case .attempts(let count, let date):
            return [("attempts", max(0, count)), ("retryAt", date?.storedSeconds)]
        case .part(let part): return [("part", part)]
        case .announced(let file): return [("announced", try file.map { try StoredText.text($0) })]
        case .published(let file): return [("published", try file.map { try StoredText.text($0) })]
        case .file(let finished, let file): return try assignments(finished, file) + [("announced", nil)]
        }
    }

    private static func stateAssignments(
        _ state: DownloadState, _ pauseReason: PauseReason? = nil, _ error: DownloadError? = nil
    ) throws -> [Assignment] {
        let details = RowState(state: state, pauseReason: pauseReason, error: error)
        return [("state", StateKind(state).rawValue), ("details", try StoredText.text(details))]
    }

    private static func assignments(_ request: DownloadRequest, _ hasSecrets: Bool) throws -> [Assignment] {
        [
            ("url", request.sources.first?.text ?? ""),
            ("mirrors", mirrors(request)),
            ("place", place(request)),
            ("host", request.indexedHost),
            ("metered", request.network.allowsMetered),
            ("constrained", request.network.allowsConstrained),
            ("notBefore", request.notBefore?.storedSeconds),
            ("request", try StoredText.text(RequestColumn(request, hasSecrets: hasSecrets))),
        ]
    }

    static func assignments(_ ending: Ending) throws -> [Assignment] {
        var all = try stateAssignments(ending.state)
        all += [
            ("endedAt", ending.date.storedSeconds), ("finished", nil), ("announced", nil), ("retryAt", nil),
        ]
        switch ending.outcome {
        case .completed(let finished, let file):
            all += [
                ("attempts", 0), ("completed", max(0, finished.totalBytes)),
                ("total", max(0, finished.totalBytes)),
            ]
            all += try assignments(finished, file)
            if !ending.leavesJournal { all.append(("part", nil)) }
        case .cancelled: all += [("part", nil), ("attempts", 0)]
        case .failed: break
        }
        return all
    }

    private static func assignments(_ finished: FinishedDownload, _ file: PublishedFile?) throws -> [Assignment] {
        var all: [Assignment] = [
            ("finished", try StoredText.text(finished)),
            ("published", try file.map { try StoredText.text($0) }),
        ]
        if !finished.path.isEmpty {
            all += [("path", finished.path), ("name", Paths.name(of: finished.path).storable)]
        }
        return all
    }

    /// The mirrors, that is, all sources after the first, one per line; `nil` if there is only one source.
    static func mirrors(_ request: DownloadRequest) -> String? {
        request.sources.count < 2 ? nil : request.sources.dropFirst().map(\.text).joined(separator: "\n")
    }

    /// The text form of a destination; two destinations are equal if and only if their texts are equal.
    static func place(_ request: DownloadRequest) -> String {
        // A URL contains no spaces.
        let upload = request.uploadTo.map { "upload \($0.text) " } ?? ""
        return upload + place(request.destination)
    }

    private static func place(_ destination: DownloadRequest.Destination) -> String {
        switch destination {
        case .file(let path): "file \(path)"
        case .directory(let path, .suggested): "directory \(path)"
        // The name is prefixed with its length, because it may contain any character.
        case .directory(let path, .exact(let name)): "name \(name.utf8.count) \(name) \(path)"
        case .part(let path): "part \(path)"
        case .stream(let descriptor): "stream \(descriptor)"
        }
    }

    // MARK: Reading

    /// Decodes a row of ``selection``.
    static func row(_ row: borrowing Row) throws -> CatalogueRow {
        guard let state = try row.value(RowState.self, 5) else { throw Unreadable() }
        let request = try StoredText.value(RequestColumn.self, row[11] as String)
        return CatalogueRow(
            id: DownloadID(rawValue: try row[0]), session: try row[1],
            key: QueueKey(priority: try row[2], position: try row[3]), state: state.state, name: try row[6],
            path: try row[7], part: try row[8],
            // The size is limited, because an earlier version stored any size that a server sent.
            completedBytes: min(try row[9], .bound - 1),
            totalBytes: (try row[10] as ByteCount?).flatMap { $0.isSize ? $0 : nil },
            request: request.request, hasSecrets: request.hasSecrets,
            label: try row[12], userInfo: try row.value([String: String].self, 13) ?? [:], createdAt: try row.date(14),
            endedAt: try row.dateIfPresent(15), finished: try row.value(FinishedDownload.self, 16),
            published: try row.value(PublishedFile.self, 17),
            announced: try row.value(PublishedFile.self, 18),
            attempts: try row[19], retryAt: try row.dateIfPresent(20), pauseReason: state.pauseReason,
            waitError: state.error)
    }

    /// A row contains a value that this code never writes.
    struct Unreadable: Error {}
}

/// A state as stored in the column `details`; the column `state` contains its kind.
private struct RowState: Codable {
    var state: DownloadState
    var pauseReason: PauseReason?
    /// The error after which a download waits; the error of a failed download is in its state.
    var error: DownloadError?

    private enum CodingKeys: String, CodingKey { case pauseReason, error }

    init(state: DownloadState, pauseReason: PauseReason?, error: DownloadError?) {
        self.state = state
        self.pauseReason = pauseReason
        self.error = error
    }

    /// Ignores a pause reason that a newer version has introduced.
    init(from decoder: any Decoder) throws {
        state = try DownloadState(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        pauseReason = try? container.decode(PauseReason.self, forKey: .pauseReason)
        if state.kind == .waiting { error = try? container.decode(DownloadError.self, forKey: .error) }
    }

    func encode(to encoder: any Encoder) throws {
        try state.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(pauseReason, forKey: .pauseReason)
        if state.kind == .waiting { try container.encodeIfPresent(error, forKey: .error) }
    }
}

extension Row {
    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ index: Int32) throws -> Value? {
        try (self[index] as String?).map { try StoredText.value(type, $0) }
    }

    func date(_ index: Int32) throws -> Date { Date(timeIntervalSince1970: try self[index]) }

    func dateIfPresent(_ index: Int32) throws -> Date? {
        (try self[index] as Double?).map(Date.init(timeIntervalSince1970:))
    }
}

extension String {
    /// The text with each NUL replaced, because SQLite would truncate the text there.
    fileprivate var storable: String {
        utf8.contains(0) ? String(map { $0 == "\0" ? "\u{fffd}" : $0 }) : self
    }
}

extension DownloadID {
    /// Whether the identifier is not empty and contains no control characters; SQLite would truncate a text at NUL.
    var canBeStored: Bool { !rawValue.isEmpty && isOneLine }
}
