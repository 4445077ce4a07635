import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Settings, statistics and sessions.
extension API {
    private func isOfSession(_ call: APIRequest) throws -> Bool {
        switch try call.items(["scope"]).text("scope") {
        case nil, "daemon": return false
        case "session": return call.session != FerryAPI.defaultSession
        default: throw Problem(.badRequest, "scope must be daemon or session.")
        }
    }

    func showSettings(_ call: APIRequest) throws -> Response {
        if try isOfSession(call) {
            return try Answer.json(settings.body(of: call.session, directory(of: call.session)))
        }
        return try Answer.json(settings.current.body)
    }

    func changeSettings(_ call: APIRequest) async throws -> Response {
        let isOfSession = try isOfSession(call)
        let change = try await read(SettingsChange.self, of: call)
        if change.directory != nil, !call.isLocal {
            throw Problem(.forbidden, "The directory is changed through the Unix socket only.")
        }
        if change.proxy != .unchanged, !call.isLocal {
            throw Problem(.forbidden, "The proxy is changed through the Unix socket only.")
        }
        if let directory = change.directory {
            try confinement?.check(directory)
            let current = isOfSession ? self.directory(of: call.session) : settings.current.directory
            // The settings refuse a relative path. The current directory is not checked, because it may have become read-only.
            if directory.utf8.hasPrefix("/"), !directory.hasSameBytes(as: current) {
                try await ConfinedDirectory.checkWritable(directory)
            }
        }
        guard isOfSession else {
            let body = try await settings.change(change)
            return try Answer.json(body)
        }
        if let directory = change.directory {
            try await sessions.register(SessionRegistration(identifier: call.session, directory: directory))
        }
        try await settings.change(change, of: call.session)
        let body = settings.body(of: call.session, directory(of: call.session))
        broadcaster.publish(.settings(body), session: call.session)
        return try Answer.json(body)
    }

    func statistics(_ call: APIRequest) async throws -> Response {
        let session = try call.session(in: try call.items(["session"]))
        let totals = try await manager.totals(session: session)
        var body = StatisticsBody()
        for (kind, count) in totals.counts {
            let bytes = totals.bytes[kind] ?? 0
            switch kind {
            case .downloading, .verifying: body.running += count
            case .paused: body.paused += count
            case .failed: body.failed += count
            case .completed: body.completed += count
            case .cancelled: body.cancelled += count
            default: body.waiting += count
            }
            switch kind {
            case .completed: body.finishedBytes = body.finishedBytes.adding(bytes)
            case .cancelled: break
            default: body.partBytes = body.partBytes.adding(bytes)
            }
        }
        body.bytesPerSecond = speed(of: session)
        body.freeBytes = DiskSpace.free(at: directory(of: session ?? call.session)) ?? 0
        body.uptime = (Date().timeIntervalSince(started) * 1000).rounded() / 1000
        return try Answer.json(body)
    }

    /// The speed of all downloads of a session, or of all sessions if `session` is `nil`, in bytes per second.
    func speed(of session: String?) -> Int64 {
        Int64(bytesPerSecond: manager.bytesPerSecond(of: session))
    }

    func storage(_ call: APIRequest) async throws -> Response {
        _ = try call.items([])
        let report = try await manager.storage(session: call.session, directory: directory(of: call.session))
        return try Answer.json(report)
    }

    // MARK: Sessions

    func listSessions(_ call: APIRequest) async throws -> Response {
        _ = try call.items([])
        let pending = try await pendingCounts()
        return try Answer.json(
            SessionItems(sessions.identifiers.map { body(of: $0, pending: pending[$0] ?? 0, last: nil) }))
    }

    /// Returns the number of unacknowledged events of each session.
    private func pendingCounts() async throws -> [String: Int] {
        var pending: [String: Int] = [:]
        var last: Int64 = 0
        while case let page = try await manager.pendingEvents(after: last), let newest = page.last {
            for event in page { pending[event.session, default: 0] += 1 }
            last = newest.number
        }
        return pending
    }

    func attach(_ call: APIRequest) async throws -> Response {
        let registration = try await read(SessionRegistration.self, of: call)
        if let directory = registration.directory { try confinement?.check(directory) }
        let isNew = sessions.entry(registration.identifier) == nil
        // Read before the registration, so that the client receives everything after this event.
        let last = broadcaster.lastID
        try await sessions.register(registration)
        let pending = try await pendingCounts()[registration.identifier] ?? 0
        return try Answer.json(
            body(of: registration.identifier, pending: pending, last: last), status: isNew ? .created : .ok)
    }

    private func body(of session: String, pending: Int, last: EventID?) -> SessionBody {
        SessionBody(
            identifier: session, directory: directory(of: session), lastEvent: last?.description,
            pendingEvents: pending, hasLaunchCommand: !(sessions.entry(session)?.launchCommand.isEmpty ?? true),
            clients: broadcaster.clients(of: session))
    }

    func acknowledge(_ call: APIRequest) async throws -> Response {
        let numbers = try await read(AcknowledgeBody.self, of: call).numbers
        // Event numbers start at 1.
        let wanted = Set(numbers.filter { $0 > 0 })
        // Acknowledges only events of the request's session.
        var own: [Int64] = []
        var last = (wanted.min() ?? 1) - 1
        while own.count < wanted.count, case let page = try await manager.pendingEvents(after: last),
            let newest = page.last
        {
            own += page.filter { wanted.contains($0.number) && $0.session == call.identifier }.map(\.number)
            last = newest.number
        }
        try await manager.acknowledge(own)
        launcher.acknowledged(own, in: call.identifier)
        return Answer.nothing
    }
}
