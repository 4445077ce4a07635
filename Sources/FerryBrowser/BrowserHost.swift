import Ferry
import FerryAPI
package import FerryClient
import FerryCore
package import FerryTerminal
import Synchronization

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The native messaging host, which the browser starts and which passes the extension's downloads to the daemon.
///
/// ```
/// extension ── take ──► host ── plan ──► daemon ──► server   the browser still downloads
///                       host ── add, paused ──► daemon      if its size and type match the browser's
/// extension ◄── download ──┘
///    │ the browser cancels its own download
/// extension ── resume ──► host ── resume ──► daemon         the download starts
/// ```
///
/// Invariants: the browser keeps its own download until the server has responded to Ferry with the same file and the daemon has
/// stored the download. A download that was taken over is either resumed, even if the browser crashes, or dropped. If this
/// process is killed in between, the download stays paused in the list.
package struct BrowserHost: Sendable {
    /// Connects to the daemon if it is running.
    private let link: DaemonLink
    /// Connects to the daemon, and starts it if it is not running.
    private let starter: DaemonLink
    /// Returns whether a host is in the user's network; `nil` if unknown.
    private let isPrivate: @Sendable (String) async -> Bool?
    /// Opens a directory on the desktop. Returns false on failure.
    private let open: @Sendable (String) -> Bool
    private let shared = Shared()

    private final class Shared: Sendable {
        /// The downloads that were added paused and have been neither resumed nor dropped.
        let taken = Mutex<Set<DownloadID>>([])
        /// Held while a message is written.
        let output = Mutex<Void>(())
    }

    /// The maximum number of messages that are processed at the same time.
    private static let mostAtOnce = 16
    /// The maximum number of unfinished and of completed downloads that are shown.
    private static let mostShown = 80
    private static let mostCompleted = 10

    package init(
        link: DaemonLink = DaemonLink(), starter: DaemonLink = DaemonLink(mayStart: true),
        isPrivate: @escaping @Sendable (String) async -> Bool? = { await DownloadManager.isPrivate($0) },
        open: @escaping @Sendable (String) -> Bool
    ) {
        (self.link, self.starter, self.isPrivate, self.open) = (link, starter, isPrivate, open)
    }

    /// Responds to the messages of a descriptor until its end, and then resumes the downloads that were taken over. Returns the
    /// exit code, `usage` if the input is not a message.
    package func run(from input: Int32, to output: Int32) async -> FerryTerminal.ExitCode {
        var code = FerryTerminal.ExitCode.done
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            while true {
                let body: Data?
                do throws(NativeMessage.Malformed) { body = try NativeMessage.read(from: input) } catch {
                    code = .usage
                    break
                }
                guard let body else { break }
                if running < Self.mostAtOnce { running += 1 } else { await group.next() }
                group.addTask {
                    let answer = await self.answer(to: body)
                    let bytes = Self.bytes(of: answer)
                    let isWritten = shared.output.withLock { _ in StandardStreams.write(bytes, to: output) }
                    // The browser has not learned that the download was taken over, so it keeps its own.
                    if !isWritten, let id = answer.download?.status.id { try? await drop(id) }
                }
            }
        }
        for id in shared.taken.withLock({ $0 }) { _ = try? await resume(id) }
        return code
    }

    private static func bytes(of answer: BrowserAnswer) -> [UInt8] {
        if let body = try? JSONCoding.encode(answer), let bytes = NativeMessage.frame(body) { return bytes }
        var failure = BrowserAnswer(number: answer.number)
        failure.error = DownloadError(.internal, ErrorPhrase(.unusableMessage, "1 MiB"))
        return (try? JSONCoding.encode(failure)).flatMap(NativeMessage.frame) ?? []
    }

    // MARK: Messages

    /// Returns the response to the bytes of a message.
    package func answer(to body: Data) async -> BrowserAnswer {
        var answer = BrowserAnswer()
        do {
            guard JSONStructure.isShallow(body, depth: NativeMessage.mostLevels) else {
                throw Problem(.badRequest, "The message is nested too deeply.")
            }
            // Messages of unknown versions may have different members.
            let head = try JSONCoding.decode(Head.self, from: body)
            answer.number = head.number
            guard head.version == BrowserMessage.version else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.hostOtherVersion, "\(head.version)", "\(BrowserMessage.version)"),
                    suggestion: ErrorPhrase(.updateFerry), recovery: .needsUser)
            }
            let message: BrowserMessage
            do { message = try JSONCoding.decode(Strict<BrowserMessage>.self, from: body).body } catch {
                throw Problem(decoding: error)
            }
            try await perform(message, &answer)
        } catch let error as DownloadError {
            answer.error = error
        } catch let problem as Problem {
            answer.error = DownloadError(
                .invalidRequest, ErrorPhrase(.unusableMessage, problem.detail ?? problem.title))
        } catch {
            answer.error = DownloadError(.invalidRequest, ErrorPhrase(.unusableMessage, "JSON"))
        }
        return answer
    }

    private struct Head: Decodable {
        var version: Int
        var number: Int
    }

    private func perform(_ message: BrowserMessage, _ answer: inout BrowserAnswer) async throws {
        let id = message.id.map { DownloadID(rawValue: $0) }
        switch (message.request, id) {
        case (.take, nil):
            guard let link = message.download?.body else { throw Self.lacks("download") }
            guard let (listed, isRenewed) = try await take(link) else { break }
            (answer.download, answer.isRenewed) = (BrowserItem(listed), isRenewed)
        case (.add, nil):
            guard let links = message.downloads, (1...BrowserMessage.mostLinks).contains(links.count) else {
                throw Self.lacks("downloads")
            }
            answer.downloads = try await add(links.map(\.body)).map(BrowserItem.init)
        case (.list, nil): try await list(&answer)
        case (.page, nil):
            answer.url = try await starter.ask(.makeCode, as: SignInBody.self).url
        case (.drop, let id?): try await drop(id)
        case (.pause, let id?):
            answer.download = BrowserItem(try await link.ask(.pause, id: id.rawValue, as: ListedDownload.self))
        case (.resume, let id?): answer.download = BrowserItem(try await resume(id))
        case (.open, let id?): try await openDirectory(of: id)
        default: throw Self.lacks("id")
        }
    }

    private static func lacks(_ member: String) -> Problem {
        Problem(.badRequest, "The member \(ForeignText.quote(member)) is missing, or is not for this request.")
    }

    private func list(_ answer: inout BrowserAnswer) async throws(DownloadError) {
        answer.downloads = []
        do throws(DownloadError) {
            answer.statistics = try await link.ask(.statistics, as: StatisticsBody.self)
        } catch {
            guard error.phrase?.key == .daemonAbsent else { throw error }
            return
        }
        let unfinished = try await link.downloads(
            [("state", "waiting,downloading,verifying,paused,failed")], limit: Self.mostShown)
        let completed = try await link.downloads(
            [("state", "completed"), ("sort", "added"), ("order", "desc")], limit: Self.mostCompleted)
        answer.downloads = (unfinished + completed).map(BrowserItem.init)
    }

    // MARK: Taking over

    /// Adds the download paused, or gives its link to a download that waits for it. Returns `nil` if the browser keeps the
    /// download.
    private func take(_ offer: BrowserLink) async throws(DownloadError) -> (ListedDownload, isRenewed: Bool)? {
        var request = await offer.request(isPaused: true, isPrivate: isPrivate)
        guard try await isServed(offer, by: request) else { return nil }
        if let renewed = try await renew(by: offer, as: request) { return (renewed, true) }
        var listed = try await add([request])[0]
        if listed.id != request.id, case .completed = listed.status.state {
            // As in a browser, downloading the same file again makes another copy.
            request.onDuplicate = .addAnother
            listed = try await add([request])[0]
        }
        if listed.id == request.id { shared.taken.withLock { _ = $0.insert(listed.id) } }
        return (listed, false)
    }

    /// Whether the server sends the same file to Ferry as to the browser.
    ///
    /// The response to Ferry differs if the link is valid for one request only, if the browser added credentials that the
    /// extension cannot see, or if the link is not the one that the browser followed.
    private func isServed(_ offer: BrowserLink, by request: DownloadRequest) async throws(DownloadError) -> Bool {
        do throws(DownloadError) {
            // The link may be valid for few requests only, so support for ranges is not tested here.
            let query = [(name: PlanQuery.testsRanges, value: "false")]
            return offer.fits(try await starter.ask(.plan, query: query, json: request, as: DownloadPlan.self))
        } catch {
            // These errors concern the server. Others concern the daemon or the message, and are reported.
            let own: [DownloadError.Code] = [.network, .refused, .freshLink, .credentials, .certificate, .tooLarge]
            guard own.contains(error.code) else { throw error }
            return false
        }
    }

    /// Gives the link to the download that waits for it. Returns `nil` if there is none.
    ///
    /// - Parameter request: The request for a new download.
    private func renew(
        by offer: BrowserLink, as request: DownloadRequest
    ) async throws(DownloadError) -> ListedDownload? {
        let waiting = try await starter.downloads([("state", "waiting")], limit: FerryAPI.mostEntries)
        guard let listed = RenewalPolicy.match(offer, among: waiting) else { return nil }
        let id = listed.id.rawValue
        let change = offer.change(forbidsPrivate: request.network.allowsPrivate == false)
        let changed = try await link.ask(.change, id: id, json: change, as: ListedDownload.self)
        // The same link with the same cookies does not count as a change, but the server may accept it now.
        guard RenewalPolicy.waits(changed) else { return changed }
        return try await link.ask(.resume, id: id, as: ListedDownload.self)
    }

    private func add(_ links: [BrowserLink]) async throws(DownloadError) -> [ListedDownload] {
        var added: [ListedDownload] = []
        var new: [DownloadRequest] = []
        for offer in links {
            let request = await offer.request(isPaused: false, isPrivate: isPrivate)
            if let renewed = try await renew(by: offer, as: request) {
                added.append(renewed)
            } else {
                new.append(request)
            }
        }
        if new.isEmpty { return added }
        return try await added + add(new)
    }

    private func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [ListedDownload] {
        let items = try await starter.ask(.add, json: NewDownloads(requests), as: DownloadItems.self).items
        guard items.count == requests.count else {
            throw DownloadError(.internal, ErrorPhrase(.daemonUnreadable, "POST /downloads"))
        }
        return items
    }

    private func resume(_ id: DownloadID) async throws(DownloadError) -> ListedDownload {
        let listed = try await starter.ask(.resume, id: id.rawValue, as: ListedDownload.self)
        shared.taken.withLock { _ = $0.remove(id) }
        return listed
    }

    /// Removes a download that was taken over, because the browser keeps its own.
    private func drop(_ id: DownloadID) async throws(DownloadError) {
        guard shared.taken.withLock({ $0.remove(id) }) != nil else { return }
        _ = try await link.ask(.removeMany, json: RemovalBody([id.rawValue]), as: ActionCount.self)
    }

    // MARK: The desktop

    /// Opens the directory of a completed download. The path is the daemon's, never the extension's.
    private func openDirectory(of id: DownloadID) async throws(DownloadError) {
        let listed = try await link.ask(.show, id: id.rawValue, as: ListedDownload.self)
        guard case .completed = listed.status.state, let path = listed.status.path,
            FileManager.default.fileExists(atPath: path)
        else {
            throw DownloadError(
                .notFound, ErrorPhrase(.fileIsGone, PrintableText.escape(listed.status.name)), recovery: .needsUser)
        }
        guard open(Paths.parent(of: path)) else {
            throw DownloadError(.internal, ErrorPhrase(.noFileManager), recovery: .needsUser)
        }
    }
}
