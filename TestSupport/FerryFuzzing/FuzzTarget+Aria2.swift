import FerryAPI
import FerryCore
import FerryAria2

import struct Foundation.Data
import class Foundation.JSONEncoder

extension FuzzTarget {
    /// The body of an aria2 call, read as JSON-RPC and as XML-RPC.
    static func aria2Call(_ input: [UInt8]) throws(BrokenPromise) {
        switch JSONRPC.parse(Data(input)) {
        case .single(let request): try check(request)
        case .batch(let requests): for request in requests { try check(request) }
        }
        guard let call = XMLRPC.call(in: Data(input)) else { return }
        // A response has the form of a call with one parameter.
        let document =
            XMLRPC.response(.success(.list(call.params)))
            .replacing("<methodResponse>", by: "<methodCall>")
            .dropLast("</methodResponse>".utf8.count) + "</methodCall>"
        let again = XMLRPC.call(in: Data(document.utf8))
        try promise(again?.params == [.list(call.params)], "not read again: \(document.debugDescription)")
    }

    private static func check(_ request: JSONRPC.Request) throws(BrokenPromise) {
        let response: JSONValue
        switch request.call {
        case .success(let call):
            var rest = call
            if let token = rest.takeToken() {
                try promise(call.params.first == .text("token:" + token), "the token \(token)")
                try promise(rest.params.count == call.params.count - 1, "\(rest.params) of \(call.params)")
            }
            response = JSONRPC.response(request.id, .success(.list(call.params)))
        case .failure(let error):
            try promiseOneLine(error.message)
            response = JSONRPC.response(request.id, .failure(error))
        }
        let again = (try? JSONEncoder().encode(response)).flatMap { try? JSONValue($0) }
        try promise(again == response, "not read again: \(response)")
    }
}
