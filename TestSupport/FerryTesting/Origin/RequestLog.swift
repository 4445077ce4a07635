import Foundation

/// The requests of a server as JSON, for programs that control the executable.
struct RequestLog: Encodable {
    let requests: [Entry]

    struct Entry: Encodable {
        let method: String
        let target: String
        let status: Int
        let bodyBytes: Int64
        let isFinished: Bool
        /// Name and value, in the order sent.
        let fields: [[String]]
    }

    /// Excludes requests for statistics, for this log, and for the setup of scenes.
    init(_ requests: [Traffic.Request]) {
        self.requests =
            requests
            .filter { !["/stats", "/requests"].contains($0.path) && !$0.path.hasPrefix("/set/") }
            .map { request in
                Entry(
                    method: request.head.method, target: request.head.target, status: request.status,
                    bodyBytes: request.bodyBytes, isFinished: request.isFinished,
                    fields: request.head.fields.map { [$0.name, $0.value] })
            }
    }
}

extension OriginServer {
    /// All requests except those for the executable's own paths, as one line of JSON.
    package var requestLog: String {
        let data = try? JSONEncoder().encode(RequestLog(requests))
        return data.map { String(decoding: $0, as: UTF8.self) + "\n" } ?? "{}\n"
    }
}
