package import Ferry
package import FerryAPI
import FerryCore

/// What a daemon is told, from flags, environment and file.
///
/// Those of the second part can be changed while it runs.
package struct DaemonSettings: Sendable, Hashable {
    // MARK: Fixed at the start

    /// The port on loopback; 0 for any that is free.
    package var port = FerryAPI.defaultPort
    /// Serve the page and the API on loopback too.
    package var servesLoopback = true
    /// Run after each completed download, for all sessions: program and arguments.
    package var onComplete: [String] = []

    /// Connect to addresses that are not of the public internet. A request may be stricter, and none laxer.
    package var allowsPrivate = true

    // MARK: Changed while it runs

    package var maxConcurrentDownloads = 3
    /// Bytes per second.
    package var rateLimit: ByteCount?
    package var connectionsPerHost = 16
    package var allowsMetered = true
    package var allowsConstrained = true
    package var networkIsMetered: Bool?
    package var retriesFailedAfter: Duration?
    /// Where downloads of the session `default` go.
    package var directory: String
    /// Directories below which the page may put files, beside the sessions' own.
    package var allowedDirectories: [String] = []

    package init(directory: String) { self.directory = directory }

    /// Hands what can be changed to a manager.
    package func apply(to configuration: inout DownloadManager.Configuration) {
        configuration.maxConcurrentDownloads = maxConcurrentDownloads
        configuration.rateLimit = rateLimit
        configuration.transfer.connectionsPerHost = connectionsPerHost
        configuration.transfer.allowsPrivate = allowsPrivate
        configuration.allowsMeteredNetwork = allowsMetered
        configuration.allowsConstrainedNetwork = allowsConstrained
        configuration.networkIsMetered = networkIsMetered
        configuration.retriesFailedAfter = retriesFailedAfter
    }

    /// As the API shows them.
    package var body: SettingsBody {
        var body = SettingsBody(scope: "daemon", directory: directory)
        body.maxConcurrentDownloads = maxConcurrentDownloads
        body.rateLimit = rateLimit
        body.connectionsPerHost = connectionsPerHost
        body.allowsMetered = allowsMetered
        body.allowsConstrained = allowsConstrained
        body.networkAssumption = networkIsMetered.map { $0 ? "metered" : "unmetered" }
        body.retriesFailedAfter = retriesFailedAfter.map(APISeconds.number)
        return body
    }

    /// With a change from the API. Throws `invalidRequest` for what cannot be meant; then nothing counts.
    package mutating func apply(_ change: SettingsChange) throws(Problem) {
        var new = self
        if case .set(let count) = change.maxConcurrentDownloads {
            new.maxConcurrentDownloads = try Self.checked(count ?? 3, 1...FerryAPI.mostAtOnce, "maxConcurrentDownloads")
        }
        if case .set(let rate) = change.rateLimit {
            guard rate.map({ $0 >= 1 }) ?? true else { throw Problem(.badRequest, "rateLimit is below 1.") }
            guard rate?.isSize ?? true else { throw Problem(.badRequest, "rateLimit is 2^62 or more.") }
            new.rateLimit = rate
        }
        if case .set(let count) = change.connectionsPerHost {
            new.connectionsPerHost = try Self.checked(count ?? 16, 1...FerryAPI.mostAtOnce, "connectionsPerHost")
        }
        if case .set(let flag) = change.allowsMetered { new.allowsMetered = flag ?? true }
        if case .set(let flag) = change.allowsConstrained { new.allowsConstrained = flag ?? true }
        if case .set(let word) = change.networkAssumption { new.networkIsMetered = try Self.isMetered(word) }
        if case .set(let seconds) = change.retriesFailedAfter {
            new.retriesFailedAfter = try Self.delay(seconds)
        }
        if let directory = change.directory {
            guard directory.utf8.hasPrefix("/") else { throw Problem(.badRequest, "directory must be absolute.") }
            new.directory = directory
        }
        self = new
    }

    /// Takes over what differs between two readings of flags, environment and file; what is fixed at the start stays.
    mutating func follow(from old: DaemonSettings, to new: DaemonSettings) {
        func newest<Value: Equatable>(_ mine: Value, _ old: Value, _ new: Value) -> Value { old == new ? mine : new }
        onComplete = newest(onComplete, old.onComplete, new.onComplete)
        maxConcurrentDownloads = newest(
            maxConcurrentDownloads, old.maxConcurrentDownloads, new.maxConcurrentDownloads)
        rateLimit = newest(rateLimit, old.rateLimit, new.rateLimit)
        connectionsPerHost = newest(connectionsPerHost, old.connectionsPerHost, new.connectionsPerHost)
        allowsMetered = newest(allowsMetered, old.allowsMetered, new.allowsMetered)
        allowsConstrained = newest(allowsConstrained, old.allowsConstrained, new.allowsConstrained)
        networkIsMetered = newest(networkIsMetered, old.networkIsMetered, new.networkIsMetered)
        retriesFailedAfter = newest(retriesFailedAfter, old.retriesFailedAfter, new.retriesFailedAfter)
        directory = newest(directory, old.directory, new.directory)
        allowedDirectories = newest(allowedDirectories, old.allowedDirectories, new.allowedDirectories)
    }

    static func checked(_ number: Int, _ range: ClosedRange<Int>, _ name: String) throws(Problem) -> Int {
        guard range.contains(number) else {
            throw Problem(.badRequest, "\(name) must be from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    static func isMetered(_ word: String?) throws(Problem) -> Bool? {
        switch word {
        case nil: return nil
        case "metered": return true
        case "unmetered": return false
        default: throw Problem(.badRequest, "networkAssumption must be metered, unmetered or null.")
        }
    }

    static func delay(_ seconds: Double?) throws(Problem) -> Duration? {
        guard let seconds else { return nil }
        guard let delay = APISeconds.duration(seconds), delay >= .seconds(1) else {
            throw Problem(.badRequest, "retriesFailedAfter must be 1 second or more.")
        }
        return delay
    }
}
