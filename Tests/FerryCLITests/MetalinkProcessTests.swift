import FerryTesting
import Foundation
import Testing

@Suite("The binary: Metalink", .serialized, .timeLimit(.minutes(30))) struct MetalinkProcessTests {
    @Test("ferry get: a Metalink document is fetched from its mirrors, and its digest and size are proven")
    func document() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 3_000_000, seed: 6)
            server.serve("/f.bin", resource)
            let digest = resource.sha256(0..<resource.size).map { String(format: "%02x", $0) }.joined()
            let document = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink">
                <file name="d/f.bin"><size>3000000</size><hash type="sha-256">\(digest)</hash>
                <url priority="1">\(server.url("/gone"))</url><url priority="2">\(server.url("/f.bin"))</url></file>
                <file name="short"><size>2999999</size><url>\(server.url("/f.bin"))</url></file>
                <file name="wrong"><hash type="md5">00000000000000000000000000000000</hash>
                <url>\(server.url("/f.bin"))</url></file>
                </metalink>
                """
            let place = try Workplace()
            try place.write(document, to: "x.meta4")
            let outcome = try await FerryProcess.run(["get", "x.meta4"], in: place)
            #expect(outcome.code == 7, "\(outcome.error)")
            #expect(outcome.lines == [place.path("d/f.bin")])
            #expect(outcome.error.contains("proof: digest"), "\(outcome.error)")
            #expect(outcome.error.contains("3000000 bytes, and 2999999 are expected"), "\(outcome.error)")
            let piped = try await FerryProcess.run(["get", "-i", "-", "-d", "e"], in: place, input: document)
            #expect(piped.lines == [place.path("e/d/f.bin")], "\(piped.error)")
        }
    }
}
