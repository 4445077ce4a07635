import Ferry
import FerryCore
import FerryServer
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// aria2's RPC interface to the downloads of the session `default`. Executes calls in both formats.
///
/// Destinations, settings and secrets follow the rules for clients over TCP.
struct Aria2RPC: Sendable {
    /// The version of aria2 whose interface is implemented.
    static let version = "1.36.0"
    static let features: [JSONValue] = ["HTTPS", "Message Digest", "XML-RPC"]
    static let session = DoorHost.session

    let host: DoorHost
    let secret: SharedToken
    /// Options for new downloads, set by `changeGlobalOption`; they are lost when the daemon ends.
    let defaults = Defaults()
    /// The port of the interface, for `getGlobalOption`.
    let port = BoundPort()
    let identifier = HexText.string((0..<20).map { _ in UInt8.random(in: .min ... .max) })

    final class BoundPort: Sendable {
        private let held = Atomic(0)
        var number: Int { held.load(ordering: .relaxed) }
        func set(_ port: Int) { held.store(port, ordering: .relaxed) }
    }

    final class Defaults: Sendable {
        private let held = Mutex(Aria2Options())
        var options: Aria2Options { held.withLock { $0 } }
        func set(_ options: Aria2Options) { held.withLock { $0 = options.over($0) } }
    }

    /// The response to a JSON message.
    struct Reply: Sendable {
        var status: Int
        var text: Data
        var visit: Aria2Visit
    }

    /// Sets the options for new downloads from a command line. Other options on the command line are ignored.
    func setDefaults(_ texts: [String: String]) throws(DownloadError) {
        do throws(Aria2Error) {
            defaults.set(try Aria2Options(texts.mapValues(JSONValue.text)) { $0.call?.use != .atFirst })
        } catch { throw DownloadError(.invalidRequest, Reason.words(error.message), recovery: .needsUser) }
    }

    func answer(_ data: Data) async -> Reply {
        var visit = Aria2Visit(.json)
        var status = 200
        let value: JSONValue
        switch JSONRPC.parse(data) {
        case .single(let request):
            let result = await result(of: request.call, &visit)
            status = JSONRPC.status(of: result)
            value = JSONRPC.response(request.id, result)
        case .batch(let requests):
            var responses: [JSONValue] = []
            for request in requests {
                responses.append(JSONRPC.response(request.id, await result(of: request.call, &visit)))
            }
            value = .list(responses)
        }
        return Reply(status: status, text: (try? JSONCoding.encode(value)) ?? Data(), visit: visit)
    }

    func result(
        of call: Result<Aria2Call, Aria2Error>, _ visit: inout Aria2Visit
    ) async -> Result<JSONValue, Aria2Error> {
        do {
            var call = try call.get()
            try visit.count()
            let method = Aria2Method(rawValue: call.method)
            if method?.isOpen != true { try visit.present(call.takeToken(), to: secret) }
            guard let method else { throw Aria2Error("No such method: \(call.method)") }
            let value = try await value(of: method, call, &visit)
            // The results of a multicall have already been counted one by one.
            if method != .multicall { try visit.tell(value) }
            return .success(value)
        } catch let error as Aria2Error {
            return .failure(error)
        } catch let error as DownloadError {
            return .failure(Aria2Error(error.message))
        } catch {
            host.logger.error("a call failed", metadata: ["error": "\(error)"])
            return .failure(Aria2Error("Internal error."))
        }
    }

    private func value(
        of method: Aria2Method, _ call: Aria2Call, _ visit: inout Aria2Visit
    ) async throws -> JSONValue {
        switch method {
        case .addUri: try await addUri(call)
        case .addMetalink: try await addMetalink(call)
        case .remove, .forceRemove: try await remove(call)
        case .pause, .forcePause: try await pause(call)
        case .pauseAll, .forcePauseAll: try await pauseAll()
        case .unpause: try await unpause(call)
        case .unpauseAll: try await unpauseAll()
        case .changePosition: try await changePosition(call)
        case .tellStatus: try await tellStatus(call)
        case .getUris: try await getUris(call)
        case .getFiles: try await getFiles(call)
        case .getServers: try await getServers(call)
        case .tellActive: try await tellActive(call, visit)
        case .tellWaiting: try await tell(.waiting, call, visit)
        case .tellStopped: try await tell(.stopped, call, visit)
        case .getOption: Aria2Options(of: try await row(call)).value
        case .changeUri: try await changeUri(call)
        case .changeOption: try await changeOption(call)
        case .getGlobalOption: getGlobalOption()
        case .changeGlobalOption: try await changeGlobalOption(call)
        case .purgeDownloadResult: try await purgeDownloadResult()
        case .removeDownloadResult: try await removeDownloadResult(call)
        case .getVersion: ["version": .text(Self.version), "enabledFeatures": .list(Self.features)]
        case .getSessionInfo: ["sessionId": .text(identifier)]
        case .shutdown, .forceShutdown: end()
        case .getGlobalStat: try await getGlobalStat()
        // The list is saved with each change.
        case .saveSession: Self.done
        case .multicall: try await multicall(call, &visit)
        case .listMethods: .list(Aria2Method.allCases.map { .text($0.rawValue) })
        case .listNotifications: .list(Aria2Notification.allCases.map { .text($0.rawValue) })
        }
    }

    static let done: JSONValue = "OK"

    private func end() -> JSONValue {
        host.stopDaemon()
        return Self.done
    }

    private func multicall(_ call: Aria2Call, _ visit: inout Aria2Visit) async throws -> JSONValue {
        var results: [JSONValue] = []
        for item in try call.list(0) {
            switch await result(of: Self.call(in: item), &visit) {
            case .success(let value): results.append([value])
            case .failure(let error): results.append(error.value(in: visit.format))
            }
        }
        return .list(results)
    }

    private static func call(in item: JSONValue) -> Result<Aria2Call, Aria2Error> {
        guard let members = item.members else { return .failure(Aria2Error("system.multicall expected struct.")) }
        guard let name = members["methodName"]?.string else { return .failure(Aria2Error("Missing methodName.")) }
        guard name != Aria2Method.multicall.rawValue else {
            return .failure(Aria2Error("Recursive system.multicall forbidden."))
        }
        return .success(Aria2Call(method: name, params: members["params"]?.items ?? []))
    }

    // MARK: Downloads

    /// Returns the row of the download that the first parameter identifies by its gid or by the beginning of its gid.
    func row(_ call: Aria2Call) async throws -> CatalogueRow {
        let text = try call.text(0)
        guard let prefix = Aria2GID.Prefix(text) else { throw Aria2Error("Invalid GID \(text)") }
        if let gid = Aria2GID(text), let row = try await host.manager.rows([gid.id]).first, row.session == Self.session
        {
            return row
        }
        let ids = try await host.manager.identifiers(RowFilter(session: Self.session), order: .queue)
            .filter { prefix.begins(Aria2GID($0)) }
        guard ids.count < 2 else { throw Aria2Error("GID \(text) is not unique") }
        guard let row = try await host.manager.rows(ids).first else { throw Aria2Error("GID \(text) is not found") }
        return row
    }

    /// Returns the error for a download that has since left the list.
    static func unlisted(_ id: DownloadID) -> Aria2Error { Aria2Error("GID \(Aria2GID(id)) is not found") }

    /// Returns the handle of the download in the first parameter, with its gid and state.
    func download(_ call: Aria2Call) async throws -> (download: Download, gid: Aria2GID, state: Aria2State) {
        let row = try await row(call)
        guard let download = try await host.manager.download(id: row.id) else { throw Self.unlisted(row.id) }
        return (download, Aria2GID(row.id), Aria2State(download.status.state))
    }
}
