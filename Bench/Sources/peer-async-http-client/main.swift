// Downloads URL to FILE with AsyncHTTPClient's FileDownloadDelegate, as its documentation shows.
//
// Usage: peer-async-http-client URL FILE [CA-FILE]
import AsyncHTTPClient
import Foundation
import NIOSSL

let arguments = CommandLine.arguments
guard arguments.count == 3 || arguments.count == 4 else {
    FileHandle.standardError.write(Data("usage: peer-async-http-client URL FILE [CA-FILE]\n".utf8))
    exit(2)
}

var configuration = HTTPClient.Configuration()
if arguments.count == 4 {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(arguments[3])
    configuration.tlsConfiguration = tls
}
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

do {
    let request = try HTTPClient.Request(url: arguments[1])
    let delegate = try FileDownloadDelegate(path: arguments[2])
    _ = try await client.execute(request: request, delegate: delegate).get()
    try await client.shutdown()
} catch {
    FileHandle.standardError.write(Data("peer-async-http-client: \(error)\n".utf8))
    try? await client.shutdown()
    exit(1)
}
