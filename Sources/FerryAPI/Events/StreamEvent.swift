package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Data
#else
    package import struct Foundation.Data
#endif

/// The events of `GET /events`, by name.
///
/// All events except `progress` are numbered: a client that reconnects with its last id receives the events that it missed. If
/// these are no longer buffered, or belong to another boot of the daemon, the stream begins with `reset`.
///
/// An event of a download follows the `state` that the event led to. Every version of a download, in events and in responses,
/// has a position in the daemon's log of updates (`asOf`): the version with the larger position is newer.
package enum StreamEvent: Sendable, Hashable {
    /// A download was added or its state or metadata changed; the payload is the whole download.
    case state(ListedDownload)
    /// The progress of all running downloads in one event, at most ten times a second, and their total speed, including
    /// downloads that begin and end between two events.
    case progress([Progress], bytesPerSecond: Double)
    /// Downloads or sets were removed from the list, as of this position in the log of updates.
    case removed([String], asOf: UInt64)
    /// The order of the list changed, as of this position in the log of updates; clients should reload the part that they show.
    case order(asOf: UInt64)
    /// An event of a download.
    case happened(EventBody)
    /// The settings of the daemon or of the session changed.
    case settings(SettingsBody)
    case network(NetworkStatus)
    /// A set of files was added, or its state or progress changed; the payload is the whole set.
    case set(FileSet)
    /// An unacknowledged event that ended a download; `{"event": …}`.
    case ended(EventBody)
    /// All earlier unacknowledged events have been sent.
    case upToDate
    /// Missed events are no longer available; the payload is the current state.
    case reset(Snapshot)

    package struct Progress: Codable, Sendable, Hashable {
        package var id: String
        package var progress: DownloadProgress

        package init(id: String, progress: DownloadProgress) {
            self.id = id
            self.progress = progress
        }

        private enum CodingKeys: String, CodingKey { case id }

        package init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
            progress = try DownloadProgress(from: decoder)
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try progress.encode(to: encoder)
        }
    }

    /// The first entries of the list, the total number, and all sets.
    package struct Snapshot: Codable, Sendable, Hashable {
        package var items: [ListedDownload]
        package var total: Int
        package var settings: SettingsBody
        package var network: NetworkStatus
        /// All sets of files; `nil` for none.
        package var sets: [FileSet]?
        /// The position in the log of updates up to which the snapshot is current.
        package var asOf: UInt64

        package init(
            items: [ListedDownload], total: Int, settings: SettingsBody, network: NetworkStatus, sets: [FileSet]? = nil,
            asOf: UInt64 = 0
        ) {
            self.asOf = asOf
            self.sets = sets
            self.items = items
            self.total = total
            self.settings = settings
            self.network = network
        }
    }

    /// The names of the events, as sent in the field `event`.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case state, progress, removed, order, happened, settings, network, set, ended, upToDate, reset
    }

    package var name: Name {
        switch self {
        case .state: .state
        case .progress: .progress
        case .removed: .removed
        case .order: .order
        case .happened: .happened
        case .settings: .settings
        case .network: .network
        case .set: .set
        case .ended: .ended
        case .upToDate: .upToDate
        case .reset: .reset
        }
    }
}

extension StreamEvent {
    /// Returns the part of the event that concerns these downloads; `nil` if it concerns only others.
    package func only(_ ids: Set<DownloadID>) -> StreamEvent? {
        switch self {
        case .state(let download): return ids.contains(download.id) ? self : nil
        case .happened(let body), .ended(let body): return ids.contains(body.event.id) ? self : nil
        case .progress(let batch, _):
            let own = batch.filter { ids.contains(DownloadID(rawValue: $0.id)) }
            let speed = own.reduce(0) { $0 + $1.progress.bytesPerSecond }
            return own.isEmpty ? nil : .progress(own, bytesPerSecond: speed)
        case .removed(let all, let position):
            let own = all.filter { ids.contains(DownloadID(rawValue: $0)) }
            return own.isEmpty ? nil : .removed(own, asOf: position)
        case .reset(var snapshot):
            snapshot.items.removeAll { !ids.contains($0.id) }
            snapshot.total = snapshot.items.count
            return .reset(snapshot)
        case .order, .settings, .network, .set, .upToDate: return self
        }
    }
}

/// The coding of an event's data as one JSON object.
extension StreamEvent {
    private struct State: Codable { var download: ListedDownload }
    private struct Batch: Codable {
        var downloads: [Progress]
        var bytesPerSecond: Double
    }
    private struct Removed: Codable {
        var ids: [String]
        var asOf: UInt64
    }
    private struct Order: Codable { var asOf: UInt64 }
    private struct Happened: Codable { var event: EventBody }
    private struct Settings: Codable { var settings: SettingsBody }
    private struct Network: Codable { var network: NetworkStatus }
    private struct Sets: Codable { var set: FileSet }
    private struct Reset: Codable { var snapshot: Snapshot }

    /// Returns the data as JSON.
    package func data() throws -> Data {
        switch self {
        case .state(let download): try JSONCoding.encode(State(download: download))
        case .progress(let batch, let speed):
            try JSONCoding.encode(Batch(downloads: batch, bytesPerSecond: speed))
        case .removed(let ids, let position): try JSONCoding.encode(Removed(ids: ids, asOf: position))
        case .order(let position): try JSONCoding.encode(Order(asOf: position))
        case .happened(let event), .ended(let event): try JSONCoding.encode(Happened(event: event))
        case .settings(let settings): try JSONCoding.encode(Settings(settings: settings))
        case .network(let network): try JSONCoding.encode(Network(network: network))
        case .set(let set): try JSONCoding.encode(Sets(set: set))
        case .reset(let snapshot): try JSONCoding.encode(Reset(snapshot: snapshot))
        case .upToDate: Data("{}".utf8)
        }
    }

    /// Returns the event in the form that is sent.
    package func sent(id: EventID?) throws -> ServerSentEvent {
        ServerSentEvent(id: id?.description, name: name.rawValue, data: String(decoding: try data(), as: UTF8.self))
    }

    /// Decodes an event; `nil` for an unknown name, which a newer version may send.
    package init?(_ sent: ServerSentEvent) throws {
        let data = Data(sent.data.utf8)
        switch Name(rawValue: sent.name) {
        case .state: self = .state(try JSONCoding.decode(State.self, from: data).download)
        case .progress:
            let batch = try JSONCoding.decode(Batch.self, from: data)
            self = .progress(batch.downloads, bytesPerSecond: batch.bytesPerSecond)
        case .removed:
            let removed = try JSONCoding.decode(Removed.self, from: data)
            self = .removed(removed.ids, asOf: removed.asOf)
        case .order: self = .order(asOf: try JSONCoding.decode(Order.self, from: data).asOf)
        case .happened: self = .happened(try JSONCoding.decode(Happened.self, from: data).event)
        case .settings: self = .settings(try JSONCoding.decode(Settings.self, from: data).settings)
        case .network: self = .network(try JSONCoding.decode(Network.self, from: data).network)
        case .set: self = .set(try JSONCoding.decode(Sets.self, from: data).set)
        case .ended: self = .ended(try JSONCoding.decode(Happened.self, from: data).event)
        case .upToDate: self = .upToDate
        case .reset: self = .reset(try JSONCoding.decode(Reset.self, from: data).snapshot)
        case nil: return nil
        }
    }
}
