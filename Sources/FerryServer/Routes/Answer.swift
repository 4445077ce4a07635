import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Responses of the API.
enum Answer {
    /// Returns a response with a JSON body.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        body(try JSONCoding.encode(value), type: "application/json", status: status)
    }

    static func body(_ data: Data, type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    /// Returns a response with a list in JSON, compressed if the request accepts compression. A list contains no secrets.
    static func list(_ data: Data, for call: APIRequest) -> Response {
        let accepts = ContentCoding.acceptsGzip(call.http.headers[values: .acceptEncoding])
        let gzip = accepts ? ContentCoding.gzip([UInt8](data), effort: 4) : nil
        var response = body(gzip.map { Data($0) } ?? data, type: "application/json")
        response.headers[.vary] = "Accept-Encoding"
        if gzip != nil { response.headers[.contentEncoding] = "gzip" }
        return response
    }

    static let nothing = Response(status: .noContent)

    static func problem(_ problem: Problem, at path: String?) -> Response {
        var problem = problem
        problem.instance = path
        let data = (try? JSONCoding.encode(problem)) ?? Data()
        var response = body(data, type: Problem.mediaType, status: HTTPResponse.Status(code: problem.status))
        if problem.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        if [Problem.Code.tooMany, .busy].contains(where: { $0.rawValue == problem.code }) {
            response.headers[.retryAfter] = "1"
        }
        return response
    }
}
