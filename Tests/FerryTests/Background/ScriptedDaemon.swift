import FerryCore
import FerryTesting
import Foundation

@testable import FerryAPI

/// A daemon that answers what a test says: a shape, a ``ScriptedServer/Reply``, or `nil` to break the connection.
typealias ScriptedDaemon = ScriptedServer

extension ScriptedDaemon {
    /// Returns the answer to a request, by its method and path.
    typealias Answers = @Sendable (_ request: String, _ daemon: ScriptedDaemon) throws -> Any?

    /// Runs a body with a daemon that gives these answers.
    static func answering(
        _ answers: @escaping Answers, _ body: (_ socket: String, ScriptedDaemon) async throws -> Void
    ) async throws {
        try await run({ request, daemon in try? reply(answers(request.line, daemon)) }, body)
    }

    static func reply(_ answer: Any?) throws -> Reply? {
        if let reply = answer as? Reply { return reply }
        return try (answer as? any Encodable).map { .response(body: try JSONCoding.encode($0)) }
    }

    /// An event stream that begins with these events, the first of them numbered 1.
    static func stream(_ events: [StreamEvent]) throws -> Reply {
        .stream(try events.enumerated().map { try text($1, id: $0 == 0 ? 1 : nil) }.joined())
    }

    /// Sends an event on the newest stream.
    func tell(_ event: StreamEvent, id: Int64? = nil) throws { tell(try Self.text(event, id: id)) }

    private static func text(_ event: StreamEvent, id: Int64?) throws -> String {
        try event.sent(id: id.map { EventID(boot: "boot", number: $0) }).text
    }
}
