import FerryTesting
import Foundation
import Testing

@Suite("The binary: long names", .timeLimit(.minutes(30)))
struct LongNameTests {
    private static let resource = Resource(size: 4_000_000, seed: 73)

    enum Way: String, Sendable, CaseIterable { case name, part }

    @Test(
        "ferry get -o: a name of any legal length is interrupted, resumed by its name or part file, and published",
        arguments: [240, 241, 244, 245, 250, 255], Way.allCases)
    func long(length: Int, way: Way) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 2_500_000)], then: .status(403))
            let place = try Workplace()
            let name = String(repeating: "n", count: length)
            let words = ["get", "-q", "-x", "1", server.url("/f.bin"), "-o", name]
            let first = try await FerryProcess.run(words, in: place)
            #expect(first.code == 5, "\(first.error)")
            let part = try #require(place.names.first { $0.hasSuffix(".part") })
            #expect(place.names == [part, part + ".ferry"])
            server.always("/f.bin", .honest)
            let next = try await FerryProcess.run(way == .name ? words : ["get", "-q", part], in: place)
            #expect(next.code == 0, "\(next.error)")
            #expect(next.lines == [place.path(name)])
            #expect(place.names == [name])
            #expect(Self.resource.source.compare(file: place.path(name), size: Self.resource.size) == .equal)
            #expect(server.requests.last?.head.fields.contains { $0.name.lowercased() == "range" } == true)
        }
    }

    @Test("ferry get --on-conflict overwrite: a file with a long name is replaced", arguments: [246, 251, 255])
    func overwrite(length: Int) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let name = String(repeating: "n", count: length)
            try place.write("old", to: name)
            let words = ["get", "-q", "--on-conflict", "overwrite", server.url("/f.bin"), "-o", name]
            let run = try await FerryProcess.run(words, in: place)
            #expect(run.code == 0, "\(run.error)")
            #expect(place.names == [name])
            #expect(Self.resource.source.compare(file: place.path(name), size: Self.resource.size) == .equal)
        }
    }
}
