import Ferry
import FerryClient
import FerryEngine
import Foundation
import HTTPTypes

/// The app's manager and the commands that use it.
@MainActor final class AppSession {
    private let manager: DownloadManager
    private let settings: AppSettings
    private let listener: AppListener
    private let events = AppEvents()
    /// The printing task, which ends with the manager.
    private var printing: Task<Void, Never>?
    private var held: [String: Download] = [:]

    init(_ settings: AppSettings) {
        self.settings = settings
        var configuration =
            settings.isBackground == true
            ? DownloadManager.Configuration.background(
                identifier: settings.identifier, directory: settings.directory, launchCommand: settings.launchCommand)
            : DownloadManager.Configuration.default(
                identifier: settings.identifier, directory: settings.directory, stateDirectory: settings.state)
        configuration.maxConcurrentDownloads = settings.limit
        configuration.storesCredentials = settings.storesCredentials
        configuration.minFreeBytes = 0
        // Effectively no limit, as a busy machine may be slow.
        configuration.stallTimeout = .seconds(9000)
        if let path = settings.trapsOn {
            let engine = EngineProvider { configuration in
                EngineEnvironment(
                    transport: TrappingTransport(HTTPTransport(configuration.transfer), path: path))
            }
            manager = DownloadManager(configuration, engine: engine)
        } else {
            manager = DownloadManager(configuration)
        }
        listener = AppListener(
            holds: settings.delegate == "hold", events: settings.events == "none" ? nil : events)
    }

    func listen() {
        if settings.delegate != "none" { manager.setDelegate(listener) }
        guard settings.events != "none" else { return }
        // owner: printing, awaited after the shutdown.
        printing = Task { [sequence = manager.events, events, acknowledges = settings.events == "acknowledge"] in
            for await event in sequence {
                var line: [String: any Sendable] = ["id": event.id.rawValue, "event": Self.object(event.kind)]
                if let number = event.number { line["number"] = number }
                Self.say(line)
                if event.number != nil { events.hasPrinted(event.id) }
                if acknowledges { event.acknowledge() }
            }
            events.end()
        }
    }

    /// Handles a launch by the daemon: receives the missed events and shuts the manager down.
    func answerLaunch() async {
        Self.say(["launched": ProcessInfo.processInfo.environment["FERRY_SESSION"] ?? ""])
        do throws(DownloadError) { try await manager.activate() } catch { Self.say(["error": error.code.rawValue]) }
        for await _ in listener.allTold {}
        await manager.shutdown()
        await printing?.value
    }

    func obey(_ command: AppCommand) async {
        var reply: [String: any Sendable] = ["reply": command.what]
        do throws(DownloadError) {
            reply.merge(try await answer(command)) { $1 }
        } catch {
            reply["error"] = error.code.rawValue
            reply["message"] = error.message
        }
        Self.say(reply)
    }

    private func answer(_ command: AppCommand) async throws(DownloadError) -> [String: any Sendable] {
        switch command.what {
        case "activate": try await manager.activate()
        case "suspend": await manager.suspend()
        case "shutdown":
            await manager.shutdown()
            await printing?.value
        case "exit": exit(0)
        case "trap": precondition(command.what.isEmpty, "asked to")
        case "add":
            let download = try await manager.download(try request(command))
            held[download.id.rawValue] = download
            return ["id": download.id.rawValue]
        case "list":
            let downloads = try await manager.downloads()
            for download in downloads { held[download.id.rawValue] = download }
            return ["items": downloads.map(Self.item)]
        case "wait":
            let download = try await known(command)
            for await status in download.updates where Self.meets(status, command) { break }
            return Self.item(download)
        case "pause": try await known(command).pause()
        case "resume": try await known(command).resume()
        case "cancel": try await known(command).cancel()
        case "keep":
            let data = try await known(command).cancelByProducingResumeData()
            return ["data": String(decoding: data.data, as: UTF8.self)]
        case "credentials":
            try await known(command).provide(
                credentials: Credentials(user: command.user ?? "", password: command.password ?? ""))
        default: throw DownloadError(.invalidRequest, "no such command: \(command.what)")
        }
        return [:]
    }

    private func known(_ command: AppCommand) async throws(DownloadError) -> Download {
        let id = command.id ?? ""
        if let download = held[id] { return download }
        guard let download = try await manager.download(id: DownloadID(rawValue: id)) else {
            throw DownloadError(.notFound, "no such download: \(id)")
        }
        held[id] = download
        return download
    }

    private func request(_ command: AppCommand) throws(DownloadError) -> DownloadRequest {
        let source = try DownloadURL(command.url ?? "")
        var request = DownloadRequest(sources: [source], destination: .directory(settings.directory))
        request.id = command.id.map { DownloadID(rawValue: $0) }
        request.label = command.label
        request.userInfo = command.userInfo ?? [:]
        if let priority = command.priority { request.priority = DownloadPriority(rawValue: priority) }
        request.startsPaused = command.isPaused ?? false
        request.maxConnections = 1
        request.rateLimit = command.rateLimit
        request.network.allowsMetered = command.metered
        if let user = command.user {
            request.credentials = Credentials(user: user, password: command.password ?? "")
        }
        if let token = command.token, let name = HTTPField.Name("X-Token") { request.headers[name] = token }
        return request
    }

    private static func meets(_ status: DownloadStatus, _ command: AppCommand) -> Bool {
        if let bytes = command.bytes, status.progress.completedBytes < bytes { return false }
        return command.state.map { $0 == kind(of: status.state) } ?? true
    }

    private static func item(_ download: Download) -> [String: any Sendable] {
        let (status, request) = (download.status, download.request)
        var item: [String: any Sendable] = [
            "id": status.id.rawValue, "state": kind(of: status.state), "bytes": status.progress.completedBytes,
            "name": status.name, "userInfo": request.userInfo, "priority": request.priority.rawValue,
        ]
        if let total = status.progress.totalBytes { item["total"] = total }
        if let reason = status.pauseReason { item["pauseReason"] = reason.rawValue }
        if let label = request.label { item["label"] = label }
        if let path = status.path { item["path"] = path }
        if let limit = request.rateLimit { item["rateLimit"] = limit }
        if let metered = request.network.allowsMetered { item["metered"] = metered }
        return item
    }

    /// Returns `waiting(slot)`, `downloading`, `completed`…
    static func kind(of state: DownloadState) -> String {
        switch state {
        case .waiting(.slot): "waiting(slot)"
        case .waiting(.retry): "waiting(retry)"
        case .waiting(.credentials): "waiting(credentials)"
        case .waiting: "waiting"
        case .downloading: "downloading"
        case .verifying: "verifying"
        case .paused: "paused"
        case .failed: "failed"
        case .completed: "completed"
        case .cancelled: "cancelled"
        }
    }

    private static func object(_ kind: DownloadEvent.Kind) -> any Sendable {
        guard let data = try? JSONEncoder().encode(kind) else { return "?" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Writes one line of JSON immediately.
    nonisolated static func say(_ object: [String: any Sendable]) {
        guard var data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else { return }
        data.append(UInt8(ascii: "\n"))
        FileHandle.standardOutput.write(data)
    }
}
