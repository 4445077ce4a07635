public import Ferry
public import FerryAPI
public import FerryCore
import HTTPTypes
public import HummingbirdCore
public import Logging
public import NIOCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The interface of a daemon for its doors: the downloads of the session `default`, under the rules for clients over TCP.
public struct DoorHost: Sendable {
    let api: API
    let options: Daemon.Options
    private let shutdown: AsyncEvent
    /// The settings of the doors, as they were at the start.
    public let settings: DoorSettings
    private let place: DaemonPaths

    init(
        _ api: API, settings: DoorSettings, place: DaemonPaths, options: Daemon.Options, shutdown: AsyncEvent
    ) {
        (self.api, self.options, self.shutdown) = (api, options, shutdown)
        (self.settings, self.place) = (settings, place)
    }

    /// The session whose downloads the doors serve.
    public static let session = FerryAPI.defaultSession

    /// The manager of the list, with the downloads of all sessions.
    public var manager: DownloadManager { api.manager }
    /// The daemon's log. Texts from servers and users must not be logged.
    public var logger: Logger { api.logger }

    /// Returns the path of a file or directory of the door in the daemon's state directory, which is private (0700). The name
    /// begins with the door's name.
    public func path(of name: String) -> String { place.state + "/" + name }

    /// Returns defaults for a door's options, from the command that runs the daemon. They apply if the door's clients give no
    /// value.
    public func defaults(of door: String) -> [String: String] { options.doorDefaults[door] ?? [:] }

    // MARK: Connections

    /// Whether the system reports the users of loopback connections; if not, only a token restricts access.
    public var knowsPeers: Bool { options.peers.tells }

    /// The delay before a response to a wrong token, which limits how many tokens can be tried.
    public var wrongTokenDelay: Duration { options.limits.wrongToken }

    /// Records the name of the token that a connection has presented, so that the connection is not evicted.
    ///
    /// - Parameter rule: The rule that has admitted the connection.
    public func identify(_ channel: any Channel, as name: String, admittedBy rule: PeerRule = .own) {
        (rule.table ?? api.connections).identify(channel, token: name)
    }

    /// Returns the users whose connections a door accepts: the daemon's user, root, and others by name or number, all including
    /// their containers; `all` admits every user. Blocks.
    ///
    /// Throws `invalidRequest` for the name of an unknown user.
    public func users(admitting others: [String]) throws(DownloadError) -> AdmittedUsers {
        do throws(TextError) {
            return try AdmittedUsers(
                own: options.user, others: others,
                subordinates: options.subordinates ?? SystemText.read("/etc/subuid") ?? "")
        } catch {
            throw DownloadError(.invalidRequest, error.reason, recovery: .needsUser)
        }
    }

    /// Returns the name of a user, or its number if it has no name. Blocks.
    public static func name(ofUser number: UInt32) -> String { SystemAccounts().name(of: number) ?? "\(number)" }

    // MARK: Requests

    /// Reads the body of a request. Bodies share a budget of memory.
    ///
    /// Throws if the body has more than `most` bytes or ends too early, or if the budget is exhausted.
    public func body(of request: Request, most: Int) async throws(Problem) -> Data {
        var share = api.budgets.remote.share()
        return try await Self.body(of: request, most: most, &share)
    }

    /// Reads the body of a request, whose bytes count against a share of a budget of the door. Throws like ``body(of:most:)``.
    public static func body(
        of request: Request, most: Int, _ share: inout BodyBudget.Share
    ) async throws(Problem) -> Data {
        try await APIRequest.bytes(of: request, most: most, &share)
    }

    /// Returns the problem with which to respond to a request that has failed. Logs the error if the client did not cause it.
    ///
    /// - Parameter path: The path of the request as it may appear in the log.
    public func problem(_ error: any Error, at path: Substring) -> Problem { Front.problem(error, at: path, logger) }

    /// Returns a response that contains a problem.
    ///
    /// - Parameter reason: The reason in the status line, for clients that do not show the content; `nil` for the default.
    public static func response(to problem: Problem, reason: String? = nil) -> Response {
        var response = Answer.problem(problem, at: nil)
        response.headers[RequestLimiter.reasonField] = reason
        return response
    }

    // MARK: Downloads

    /// The permits to read the content of downloads, which the API and the doors share.
    public var seats: ContentSeats { api.seats }

    /// The directory of downloads whose request names no directory.
    public var directory: String { api.directory(of: Self.session) }

    /// Adds downloads, all or none. A download whose identifier is already listed is returned unchanged.
    ///
    /// Throws `invalidRequest` for a destination that clients over TCP may not choose.
    public func add(
        _ requests: [DownloadRequest]
    ) async throws(DownloadError) -> [(download: Download, isNew: Bool)] {
        try await api.add(requests, session: Self.session, isLocal: false)
    }

    /// Throws `invalidRequest` if clients over TCP may not choose this directory.
    public func check(directory: String) throws(DownloadError) {
        _ = try api.destinations(of: Self.session).destination(
            of: .directory(directory), isLocal: false, default: self.directory)
    }

    /// The speed of the session's downloads, in bytes per second.
    public var bytesPerSecond: Int64 { api.speed(of: Self.session) }

    // MARK: The daemon

    /// The maximum number of downloads that run at a time.
    public var maxConcurrentDownloads: Int { api.settings.current.maxConcurrentDownloads }

    /// The disk space to keep free, in bytes; `nil` for 1 % of a file system, at most 256 MB.
    public var minFreeBytes: ByteCount? { api.settings.current.minFreeBytes }

    /// Bytes per second for all downloads together; `nil` for no limit.
    public var rateLimit: ByteCount? { api.settings.current.rateLimit }

    /// Changes settings of the daemon, including its settings file.
    ///
    /// - Parameters:
    ///   - maxConcurrentDownloads: `nil` leaves the number unchanged.
    ///   - rateLimit: 0 for no limit; `nil` leaves the limit unchanged.
    ///
    /// Throws `invalidRequest` for a number out of bounds, and `disk` if the file cannot be written.
    public func change(maxConcurrentDownloads: Int?, rateLimit: ByteCount?) async throws(DownloadError) {
        var change = SettingsChange()
        if let maxConcurrentDownloads { change.maxConcurrentDownloads = .set(maxConcurrentDownloads) }
        if let rateLimit { change.rateLimit = .set(rateLimit == 0 ? nil : rateLimit) }
        guard change != SettingsChange() else { return }
        do { _ = try await api.settings.change(change) } catch let problem as Problem {
            throw problem.downloadError
        } catch {
            throw (error as? DownloadError)
                ?? DownloadError(.internal, "the settings cannot be changed", underlying: "\(error)")
        }
    }

    /// Ends the daemon once the responses that are being written are complete.
    public func stopDaemon() { shutdown.notify() }
}
