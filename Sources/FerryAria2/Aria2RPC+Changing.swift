import Ferry
import FerryCore
import FerryServer

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Methods that add and change downloads.
extension Aria2RPC {
    func addUri(_ call: Aria2Call) async throws -> JSONValue {
        let texts = try call.list(0).compactMap(\.string)
        let members = try call.has(1) ? call.members(1) : [:]
        let position = try call.position(2)
        guard !texts.isEmpty else { throw Aria2Error("URI is not provided.") }
        let options = try Aria2Options(members).over(defaults.options)
        let sources = texts.compactMap { try? DownloadURL($0) }
        let request = try options.request(sources)
        guard !sources.isEmpty else { throw Aria2Error("No URI to download.") }
        let added = try await host.add([request])[0]
        // The gid of a listed download is not assigned to another download.
        guard added.isNew || request.id != added.download.id else { throw Aria2Error("No URI to download.") }
        if let position { _ = try? await place(added.download.id) { _, _ in position } }
        return .text(Aria2GID(added.download.id).description)
    }

    func addMetalink(_ call: Aria2Call) async throws -> JSONValue {
        guard let document = Data(base64Encoded: try call.text(0)) else {
            throw Aria2Error("The parameter at 0 has wrong type.")
        }
        let members = try call.has(1) ? call.members(1) : [:]
        let position = try call.position(2)
        var options = try Aria2Options(members).over(defaults.options)
        options.values["gid"] = nil
        let requests = try DownloadRequest.requests(metalink: document, directory: "").map { file in
            guard case .file(let name) = file.destination else { throw Aria2Error("No files to download.") }
            options.values["out"] = name
            var request = try options.request(file.sources)
            request.checksum = file.checksum ?? request.checksum
            (request.expectedBytes, request.pieces) = (file.expectedBytes, file.pieces)
            return request
        }
        guard !requests.isEmpty else { throw Aria2Error("No files to download.") }
        let added = try await host.add(requests).map(\.download.id)
        for (index, id) in added.enumerated() {
            if let position { _ = try? await place(id) { _, _ in position + index } }
        }
        return .list(added.map { .text(Aria2GID($0).description) })
    }

    func remove(_ call: Aria2Call) async throws -> JSONValue {
        let (download, gid, state) = try await download(call)
        guard state.group != .stopped else { throw Aria2Error("Active Download not found for GID#\(gid)") }
        try await download.cancel()
        return .text(gid.description)
    }

    func pause(_ call: Aria2Call) async throws -> JSONValue {
        let (download, gid, state) = try await download(call)
        guard state == .active || state == .waiting else { throw Aria2Error("GID#\(gid) cannot be paused now") }
        try await download.pause()
        return .text(gid.description)
    }

    func unpause(_ call: Aria2Call) async throws -> JSONValue {
        let (download, gid, state) = try await download(call)
        guard state == .paused else { throw Aria2Error("GID#\(gid) cannot be unpaused now") }
        try await download.resume()
        return .text(gid.description)
    }

    func pauseAll() async throws -> JSONValue {
        let kinds = Aria2State.Group.active.kinds.union(Aria2State.Group.waiting.kinds).subtracting([.paused])
        return try await act(.pause(), onAllIn: kinds)
    }

    func unpauseAll() async throws -> JSONValue { try await act(.resume(), onAllIn: [.paused]) }

    /// Performs an action on the downloads that are in these states now. A download that leaves the states before the action
    /// reaches it is not changed.
    private func act(_ action: ListAction, onAllIn kinds: Set<StateKind>) async throws -> JSONValue {
        let ids = try await host.manager.identifiers(RowFilter(kinds: kinds, session: Self.session), order: .queue)
        if !ids.isEmpty { _ = try await host.manager.perform(action, on: ids, session: Self.session) }
        return Self.done
    }

    // MARK: Results

    func removeDownloadResult(_ call: Aria2Call) async throws -> JSONValue {
        let (download, gid, state) = try await download(call)
        guard state.group == .stopped else { throw Aria2Error("Could not remove download result of GID#\(gid)") }
        try await unlist(download, state)
        return Self.done
    }

    func purgeDownloadResult() async throws -> JSONValue {
        let filter = RowFilter(kinds: Aria2State.Group.stopped.kinds, session: Self.session)
        for id in try await host.manager.identifiers(filter, order: .queue) {
            guard let download = try await host.manager.download(id: id) else { continue }
            let state = Aria2State(download.status.state)
            if state.group == .stopped { try await unlist(download, state) }
        }
        return Self.done
    }

    /// Removes a download from the list. Files are kept, as in aria2. This includes the part file and journal of a failed
    /// download, from which another download of the same URL can resume.
    private func unlist(_ download: Download, _ state: Aria2State) async throws(DownloadError) {
        if state == .error {
            do throws(DownloadError) {
                _ = try await download.cancelByProducingResumeData()
                return
            } catch  where error.code == .notResumable {
                // The download has nothing that is worth keeping.
            }
        }
        try await download.remove()
    }

    // MARK: The queue

    func changePosition(_ call: Aria2Call) async throws -> JSONValue {
        let row = try await row(call)
        let (offset, how) = (try call.whole(1), try call.text(2))
        let start: (Int, Int) -> Int
        switch how {
        case "POS_SET": start = { _, _ in 0 }
        case "POS_CUR": start = { index, _ in index }
        case "POS_END": start = { _, last in last }
        default: throw Aria2Error("Illegal argument.")
        }
        return .whole(
            try await place(row.id) { index, last in
                let (sum, overflows) = start(index, last).addingReportingOverflow(offset)
                return overflows ? (offset < 0 ? 0 : last) : sum
            })
    }

    /// Moves a download among the waiting downloads, and returns its new index. `target` receives the current index of the
    /// download and the last index of the list, and returns the new index.
    private func place(_ id: DownloadID, _ target: (_ index: Int, _ last: Int) -> Int) async throws -> Int {
        let filter = RowFilter(kinds: Aria2State.Group.waiting.kinds, session: Self.session)
        var waiting = try await host.manager.identifiers(filter, order: .queue)
        guard let index = waiting.firstIndex(of: id) else {
            throw Aria2Error("GID#\(Aria2GID(id)) not found in the waiting queue.")
        }
        let place = min(max(0, target(index, waiting.count - 1)), waiting.count - 1)
        waiting.remove(at: index)
        if place != index {
            let neighbour: ListPlacement = place < waiting.count ? .before(waiting[place]) : .after(waiting[place - 1])
            guard let download = try await host.manager.download(id: id) else { throw Self.unlisted(id) }
            try await download.moveInList(to: neighbour)
        }
        return place
    }

    // MARK: Changing

    func changeUri(_ call: Aria2Call) async throws -> JSONValue {
        let file = try call.whole(1, atLeast: 1)
        let (removed, added) = (try call.list(2), try call.list(3))
        let position = try call.position(4)
        let (download, gid, _) = try await download(call)
        guard download.status.actions.contains(.change) else { throw Aria2Error("Cannot remove URIs from GID#\(gid)") }
        guard file == 1 else { throw Aria2Error("fileIndex is out of range") }
        var sources = download.request.sources
        var count = (removed: 0, added: 0)
        for text in removed.compactMap(\.string) {
            guard let url = try? DownloadURL(text), let index = sources.firstIndex(where: { $0.text == url.text })
            else {
                continue
            }
            sources.remove(at: index)
            count.removed += 1
        }
        for text in added.compactMap(\.string) {
            guard let url = try? DownloadURL(text) else { continue }
            let end = sources.count
            sources.insert(url, at: min(position.map { $0 > end ? end : $0 + count.added } ?? end, end))
            count.added += 1
        }
        guard !sources.isEmpty else { throw Aria2Error("GID#\(gid) would have no URI left") }
        let new = sources
        try await download.change { $0.sources = new }
        return [.whole(count.removed), .whole(count.added)]
    }

    func changeOption(_ call: Aria2Call) async throws -> JSONValue {
        let row = try await row(call)
        let gid = Aria2GID(row.id)
        let given = try Aria2Options(try call.members(1)) { $0.call?.use != .atFirst }
        guard let download = try await host.manager.download(id: row.id) else { throw Self.unlisted(row.id) }
        guard download.status.actions.contains(.change) else { throw Aria2Error("Cannot change option for GID#\(gid)") }
        let current = Aria2Options(of: row)
        for option in Aria2Option.ofDownload where option.call?.use == .notLater {
            if let value = given.values[option.name], value != current.values[option.name] { throw option.notHere }
        }
        let old = download.request
        var new = old
        try given.apply(to: &new)
        try new.checkValues()
        let change = RequestChange(from: old, to: new)
        if change.changesRequest, !change.members.isEmpty { try await download.change { change.apply(to: &$0) } }
        if let credentials = given.credentials { try await download.provide(credentials: credentials) }
        return Self.done
    }

    func changeGlobalOption(_ call: Aria2Call) async throws -> JSONValue {
        let members = try call.members(0)
        let settings = try Aria2Options(members, in: Aria2Option.ofDaemon)
        let options = try Aria2Options(members) { $0.call?.use == .always || $0.call?.use == .notLater }
        // The directory is checked now, so that the client receives an error immediately if the directory must not be used.
        if let directory = options["dir"] { try host.check(directory: directory) }
        try await host.change(
            maxConcurrentDownloads: settings["max-concurrent-downloads"].flatMap { Int($0) },
            rateLimit: settings["max-overall-download-limit"].flatMap { ByteCount($0) })
        defaults.set(options)
        return Self.done
    }
}
