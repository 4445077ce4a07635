import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

extension Workshop {
    /// An origin with small send buffers, which counts little more than the client has read.
    static var counting: OriginServer.Configuration {
        var configuration = OriginServer.Configuration()
        configuration.sendBuffer = 65_536
        return configuration
    }

    /// The bytes that socket buffers may hold of a response that is not read.
    static let waste: Int64 = 3_000_000

    /// The journal beside a part file.
    func journal(_ name: String) throws -> JournalRecord {
        try Journal.read(at: FilePath(path(name + ".part.ferry")), fileSystem: LocalFileSystem())
    }

    /// The number of claimed bytes in the journal, each compared with the resource.
    func held(_ name: String, of resource: Resource) throws -> Int64 {
        let handle = try FileHandle(forReadingFrom: URL(filePath: path(name + ".part")))
        defer { try? handle.close() }
        var count: Int64 = 0
        for pair in try journal(name).claimed {
            try handle.seek(toOffset: UInt64(pair[0]))
            let bytes = try handle.read(upToCount: Int(pair[1] - pair[0])) ?? Data()
            #expect(bytes.elementsEqual(resource.bytes(pair[0]..<pair[1])), "\(pair)")
            count += pair[1] - pair[0]
        }
        return count
    }

    /// Waits until the journal meets the condition.
    func untilJournal(_ name: String, _ isSuch: (JournalRecord) -> Bool) async throws {
        try await eventually { (try? journal(name)).map(isSuch) ?? false }
    }
}

extension Workshop.Outcome {
    /// The reasons in events and in the error.
    var reasons: [String] {
        let told = events.compactMap { event -> String? in
            switch event {
            case .note(let text): text
            case .resumed(_, _, let reason), .retrying(_, _, let reason), .restarted(let reason): reason
            default: nil
            }
        }
        return told + [error?.message, error?.suggestion].compactMap(\.self)
    }

    func says(_ text: String) -> Bool { reasons.contains { $0.contains(text) } }

    var retries: Int { events.count { if case .retrying = $0 { true } else { false } } }
}
