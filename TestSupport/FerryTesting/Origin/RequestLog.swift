import Foundation

/// The requests of a server as JSON, for who drives the executable from outside.
struct RequestLog: Encodable {
    let requests: [Entry]

    struct Entry: Encodable {
        let method: String
        let target: String
        let status: Int
        let bodyBytes: Int64
        let isFinished: Bool
        /// In the order sent: name, value.
        let fields: [[String]]
    }

    /// All but those that ask what was served, or say what is to be.
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
    /// Every request so far, but for those of the executable's own paths, as one line of JSON.
    package var requestLog: String {
        let data = try? JSONEncoder().encode(RequestLog(requests))
        return data.map { String(decoding: $0, as: UTF8.self) + "\n" } ?? "{}\n"
    }
}
