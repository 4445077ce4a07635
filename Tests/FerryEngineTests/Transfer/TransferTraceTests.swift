import FerryCore
import FerryEngine
import FerryTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("Tracing of requests", .timeLimit(.minutes(30)))
struct TransferTraceTests {
    private final class Notes: Sendable {
        let all = Mutex<[String]>([])
    }

    private static func trace(isOn: Bool, _ behaviour: Behaviour) async throws -> [String] {
        var settings = TransferSettings()
        settings.tracesRequests = isOn
        return try await withOrigin(settings: settings) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 3))
            server.always("/f", behaviour)
            var fields = HTTPFields()
            fields[.cookie] = "a=hidden"
            fields[try #require(HTTPField.Name("X-Key"))] = "hidden"
            var request = TransferRequest(
                url: try DownloadURL(server.url("/f") + "?token=hidden"), fields: [.range: "bytes=0-4"],
                userFields: fields, credentials: Credentials(user: "me", password: "hidden"))
            let notes = Notes()
            request.trace = { note in notes.all.withLock { $0.append(note.description) } }
            _ = try await transport.fetch(request).body.collect()
            return notes.all.withLock(\.self)
        }
    }

    @Test("HTTPTransport: requests, response heads, redirects and connections are traced without secrets")
    func traces() async throws {
        let notes = try await Self.trace(isOn: true, .redirectChain(1, status: 302))
        let text = notes.joined(separator: "\n")
        #expect(
            notes.count { $0.hasPrefix("request: GET http://") && $0.lowercased().contains("range: bytes=0-4") } == 2,
            "\(text)")
        #expect(notes.contains { $0.hasPrefix("302 from ") })
        #expect(notes.contains { $0.hasPrefix("206 from ") && $0.lowercased().contains("content-range: bytes 0-4/10") })
        #expect(notes.contains { $0.hasPrefix("redirected from ") && $0.contains("/f?… to http://") }, "\(text)")
        #expect(notes.count { $0.hasPrefix("a connection to ") && $0.hasSuffix(" was opened") } == 1, "\(text)")
        #expect(text.contains("X-Key: …") && !text.contains("hidden"), "\(text)")
    }

    @Test("HTTPTransport: what the system knows of a connection is observed while it receives")
    func observed() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 4_000_000))
            var request = TransferRequest(url: try server.downloadURL("/f"))
            let seen = Mutex<[SocketFacts]>([])
            request.observe = { facts in seen.withLock { $0.append(facts) } }
            _ = try await transport.fetch(request).body.collect()
            let first = try #require(seen.withLock { $0.first })
            #expect(first.segments ?? 0 > 0)
            #expect(first.shortestTrip ?? .zero > .zero)
            #expect(first.window ?? 1 > 0)
            #expect((0..<4_000_000).contains(first.unread ?? 0))
        }
    }

    @Test("ProcessorMeter: the first call has nothing to compare with")
    func processor() async { #expect(await ProcessorMeter().facts(FileIO(LocalFileSystem())) == nil) }

    @Test("HTTPTransport: nothing is traced unless the settings say so")
    func quiet() async throws {
        #expect(try await Self.trace(isOn: false, .redirectChain(1, status: 302)) == [])
    }
}
