package import FerryCore
package import struct Foundation.Data

/// What `GET /events` sends, by name.
///
/// All but `progress` are numbered: a client that comes back with the last id gets those that it missed. Who is too late
/// for that, or comes from another life of the daemon, gets `reset` first.
package enum StreamEvent: Sendable, Hashable {
    /// A download is new on the list, or stands elsewhere than before: the whole of it.
    case state(ListedDownload)
    /// How far those are that move; at most ten times a second, all in one.
    case progress([Progress])
    /// These left the list.
    case removed([String])
    /// The order of the list is another: what is shown of it is to be read again.
    case order
    /// Something happened to a download.
    case happened(EventBody)
    /// Settings of the daemon, or of the session, are others.
    case settings(SettingsBody)
    case network(NetworkBody)
    /// An event that ended a download and is not acknowledged; `{"event": …}`.
    case ended(EventBody)
    /// Everything that ended before and was not acknowledged has been told.
    case upToDate
    /// What was missed cannot be told any more: this is how it stands.
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
            try ProgressBody(progress).encode(to: encoder)
        }
    }

    /// The list as it stands: its first entries, and how many there are.
    package struct Snapshot: Codable, Sendable, Hashable {
        package var items: [ListedDownload]
        package var total: Int
        package var settings: SettingsBody
        package var network: NetworkBody

        package init(items: [ListedDownload], total: Int, settings: SettingsBody, network: NetworkBody) {
            self.items = items
            self.total = total
            self.settings = settings
            self.network = network
        }
    }

    /// The names, as in `event:`.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case state, progress, removed, order, happened, settings, network, ended, upToDate, reset
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
        case .ended: .ended
        case .upToDate: .upToDate
        case .reset: .reset
        }
    }
}

/// The data of an event is one object.
extension StreamEvent {
    private struct State: Codable { var download: ListedDownload }
    private struct Batch: Codable { var downloads: [Progress] }
    private struct Removed: Codable { var ids: [String] }
    private struct Happened: Codable { var event: EventBody }
    private struct Settings: Codable { var settings: SettingsBody }
    private struct Network: Codable { var network: NetworkBody }
    private struct Reset: Codable { var snapshot: Snapshot }

    /// The JSON of its data.
    package func data() throws -> Data {
        switch self {
        case .state(let download): try APICoding.encode(State(download: download))
        case .progress(let batch): try APICoding.encode(Batch(downloads: batch))
        case .removed(let ids): try APICoding.encode(Removed(ids: ids))
        case .happened(let event), .ended(let event): try APICoding.encode(Happened(event: event))
        case .settings(let settings): try APICoding.encode(Settings(settings: settings))
        case .network(let network): try APICoding.encode(Network(network: network))
        case .reset(let snapshot): try APICoding.encode(Reset(snapshot: snapshot))
        case .order, .upToDate: Data("{}".utf8)
        }
    }

    /// The event as it is sent.
    package func sent(id: EventID?) throws -> ServerSentEvent {
        ServerSentEvent(id: id?.description, name: name.rawValue, data: String(decoding: try data(), as: UTF8.self))
    }

    /// Reads one; `nil` for a name that is not known: of a newer version.
    package init?(_ sent: ServerSentEvent) throws {
        let data = Data(sent.data.utf8)
        switch Name(rawValue: sent.name) {
        case .state: self = .state(try APICoding.decode(State.self, from: data).download)
        case .progress: self = .progress(try APICoding.decode(Batch.self, from: data).downloads)
        case .removed: self = .removed(try APICoding.decode(Removed.self, from: data).ids)
        case .order: self = .order
        case .happened: self = .happened(try APICoding.decode(Happened.self, from: data).event)
        case .settings: self = .settings(try APICoding.decode(Settings.self, from: data).settings)
        case .network: self = .network(try APICoding.decode(Network.self, from: data).network)
        case .ended: self = .ended(try APICoding.decode(Happened.self, from: data).event)
        case .upToDate: self = .upToDate
        case .reset: self = .reset(try APICoding.decode(Reset.self, from: data).snapshot)
        case nil: return nil
        }
    }
}
