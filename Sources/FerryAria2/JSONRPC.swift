package import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The format of JSON-RPC 2.0 as aria2 reads and writes it: bodies of requests and responses.
package enum JSONRPC {
    /// A request, with its call or, if it is invalid, the error to return.
    package struct Request: Sendable, Hashable {
        package var id: JSONValue
        package var call: Result<Aria2Call, Aria2Error>
    }

    package enum Message: Sendable, Hashable {
        case single(Request)
        case batch([Request])
    }

    /// The maximum nesting of a message.
    package static let mostDepth = 32

    private static let parseError = Aria2Error("Parse error.", code: -32_700)
    static let invalidRequest = Aria2Error("Invalid Request.", code: -32_600)

    package static func parse(_ data: Data) -> Message {
        func refused(_ error: Aria2Error) -> Message { .single(Request(id: .null, call: .failure(error))) }
        guard JSONStructure.isShallow(data, depth: mostDepth), let value = try? JSONValue(data) else {
            return refused(parseError)
        }
        switch value {
        case .object(let members): return .single(request(members))
        case .list(let items): return .batch(items.compactMap { $0.members.map(request) })
        case .text, .null, .flag: return refused(invalidRequest)
        // aria2 rejects a number, because its parser detects the end of a number only at the next character.
        case .whole, .number: return refused(parseError)
        }
    }

    private static func request(_ members: [String: JSONValue]) -> Request {
        guard let id = members["id"], let method = members["method"]?.string else {
            return Request(id: members["id"] ?? .null, call: .failure(invalidRequest))
        }
        switch members["params"] {
        case nil: return Request(id: id, call: .success(Aria2Call(method: method)))
        case .list(let params)?: return Request(id: id, call: .success(Aria2Call(method: method, params: params)))
        default: return Request(id: id, call: .failure(Aria2Error("Invalid params.", code: -32_602)))
        }
    }

    package static func response(_ id: JSONValue, _ result: Result<JSONValue, Aria2Error>) -> JSONValue {
        switch result {
        case .success(let value): ["jsonrpc": "2.0", "id": id, "result": value]
        case .failure(let error): ["jsonrpc": "2.0", "id": id, "error": error.value(in: .json)]
        }
    }

    package static func notification(_ notification: Aria2Notification, gid: String) -> JSONValue {
        ["jsonrpc": "2.0", "method": .text(notification.rawValue), "params": [["gid": .text(gid)]]]
    }

    /// The HTTP status of a response that is not in a batch.
    package static func status(of result: Result<JSONValue, Aria2Error>) -> Int {
        switch result {
        case .success: 200
        case .failure(let error): error.code == 1 || error.code == -32_600 ? 400 : 500
        }
    }
}

/// The format of a message.
package enum Aria2Format: Sendable, Hashable { case json, xml }

extension Aria2Error {
    /// The error as a value, for a response or for an item in the result of `system.multicall`.
    package func value(in format: Aria2Format) -> JSONValue {
        switch format {
        case .json: ["code": .whole(code), "message": .text(message)]
        case .xml: ["faultCode": .whole(code), "faultString": .text(message)]
        }
    }
}
