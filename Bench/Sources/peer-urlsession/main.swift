// Downloads URL to FILE with Foundation's URLSession, as its documentation shows: a download task, whose temporary file
// is then moved into place.
//
// Usage: peer-urlsession URL FILE
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: peer-urlsession URL FILE\n".utf8))
    exit(2)
}
let destination = URL(fileURLWithPath: CommandLine.arguments[2])

do {
    let (temporary, response) = try await URLSession.shared.download(from: url)
    guard let http = response as? HTTPURLResponse, http.statusCode == 200 else {
        throw URLError(.badServerResponse)
    }
    try FileManager.default.moveItem(at: temporary, to: destination)
} catch {
    FileHandle.standardError.write(Data("peer-urlsession: \(error)\n".utf8))
    exit(1)
}
