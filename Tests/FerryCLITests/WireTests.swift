import FerryTesting
import Foundation
import Testing

@Suite("The binary: what is sent and understood on the wire", .timeLimit(.minutes(30)))
struct WireTests {
    @Test("ferry get: a request for a file has no Content-Length")
    func noContentLength() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Resource(size: 4_000_000, seed: 74))
            let outcome = try await FerryProcess.run(["get", "-q", server.url("/f.bin")], in: Workplace())
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(!server.requests.isEmpty)
            for request in server.requests {
                #expect(!request.head.fields.contains { $0.name.lowercased() == "content-length" })
            }
        }
    }
}
