import Ferry
import FerryAPI
import FerryCore
import FerryServer

/// Methods that return the status of downloads.
extension Aria2RPC {
    /// The maximum number of downloads in a returned list.
    private static let mostTold = 10_000

    func tellStatus(_ call: Aria2Call) async throws -> JSONValue {
        let keys = try call.keys(1)
        return await status(of: try await row(call), keys, readsJournal: true).value(keys)
    }

    func tellActive(_ call: Aria2Call, _ visit: Aria2Visit) async throws -> JSONValue {
        let keys = try call.keys(0)
        let running = host.manager.running.filter { $0.session == Self.session }.map(\.status.id)
        let rows = try await host.manager.rows(running).sorted { $0.key < $1.key }
        return try await value(of: rows, in: .active, keys, visit)
    }

    func tell(_ group: Aria2State.Group, _ call: Aria2Call, _ visit: Aria2Visit) async throws -> JSONValue {
        let (offset, number) = (try call.whole(0), try call.whole(1, atLeast: 0))
        let keys = try call.keys(2)
        let filter = RowFilter(kinds: group.kinds, session: Self.session)
        let total = try await host.manager.page(filter, limit: 0).total
        let (range, isReversed) = Aria2Page.range(offset: offset, number: min(number, Self.mostTold), of: total)
        var rows: [CatalogueRow] = []
        for start in stride(from: range.lowerBound, to: range.upperBound, by: FerryAPI.mostEntries) {
            let limit = min(FerryAPI.mostEntries, range.upperBound - start)
            rows += try await host.manager.page(filter, offset: start, limit: limit).rows
        }
        return try await value(of: isReversed ? rows.reversed() : rows, in: group, keys, visit)
    }

    /// Excludes downloads whose state has changed since the rows were read, if they are now in another group.
    private func value(
        of rows: [CatalogueRow], in group: Aria2State.Group, _ keys: Set<String>?, _ visit: Aria2Visit
    ) async throws -> JSONValue {
        var values: [JSONValue] = []
        var length = 0
        for row in rows {
            let status = await status(of: row, keys, readsJournal: keys?.contains("bitfield") ?? (group == .active))
            guard status.state.group == group else { continue }
            let value = status.value(keys)
            length += value.textLength
            try visit.checkRoom(for: length)
            values.append(value)
        }
        return .list(values)
    }

    /// - Parameter readsJournal: Whether the written ranges are read. For a download that is not running, they are in its
    ///   journal.
    private func status(of row: CatalogueRow, _ keys: Set<String>?, readsJournal: Bool) async -> Aria2Status {
        let isWanted = readsJournal && keys?.contains("bitfield") ?? true
        let written = isWanted ? await host.manager.picture(of: row)?.written : nil
        return Aria2Status(row: row, status: host.manager.status(of: row), written: written)
    }

    private func status(_ call: Aria2Call) async throws -> Aria2Status {
        let row = try await row(call)
        return Aria2Status(row: row, status: host.manager.status(of: row))
    }

    func getUris(_ call: Aria2Call) async throws -> JSONValue {
        let status = try await status(call)
        guard status.state.group != .stopped else { throw Aria2Error("No URI data is available for GID#\(status.gid)") }
        return status.uris
    }

    func getFiles(_ call: Aria2Call) async throws -> JSONValue { try await status(call).files }

    func getServers(_ call: Aria2Call) async throws -> JSONValue {
        let status = try await status(call)
        guard status.state == .active else { throw Aria2Error("No active download for GID#\(status.gid)") }
        return status.servers(finalURL: await host.manager.picture(of: status.row)?.finalURL)
    }

    func getGlobalStat() async throws -> JSONValue {
        let counts = try await host.manager.totals(session: Self.session).counts
        func count(_ group: Aria2State.Group) -> JSONValue {
            .text(String(group.kinds.reduce(0) { $0 + (counts[$1] ?? 0) }))
        }
        return [
            "downloadSpeed": .text(String(host.bytesPerSecond)), "uploadSpeed": "0",
            "numActive": count(.active), "numWaiting": count(.waiting), "numStopped": count(.stopped),
            "numStoppedTotal": count(.stopped),
        ]
    }

    func getGlobalOption() -> JSONValue {
        var options = defaults.options.withoutSecrets.over(.standard)
        options.values["dir"] = options["dir"] ?? host.directory
        options.values["max-concurrent-downloads"] = String(host.maxConcurrentDownloads)
        options.values["max-overall-download-limit"] = String(host.rateLimit ?? 0)
        let fixed = [
            "max-overall-upload-limit": "0", "max-download-result": String(Self.mostTold), "enable-rpc": "true",
            "rpc-listen-port": String(port.number), "rpc-listen-all": "false",
            "rpc-allow-origin-all": "false", "check-certificate": "true", "log-level": "notice",
        ]
        return Aria2Options(values: fixed).over(options).value
    }
}
