import FerryTesting
import Foundation
import Testing

@testable import Ferry

/// The app is killed by `strace` when it enters its n-th system call of some kinds.
@Suite(
    "Kill during publishing", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: Strace.canInject, "no strace here"))
struct CutPublishingTests {
    /// System calls, the number of the one that kills, and the file's size: a small one is published from memory.
    struct Moment: Sendable, CustomTestStringConvertible {
        var calls: String
        var count: Int
        var size: Int64
        var testDescription: String { "\(calls) \(count), \(size) bytes" }
    }

    private static let moments: [Moment] = {
        let (large, small): (Int64, Int64) = (2_000_000, 100_000)
        var all = [("renameat2", large), ("fsetxattr", large), ("linkat", small), ("fsetxattr", small)].map {
            Moment(calls: $0.0, count: 1, size: $0.1)
        }
        // Each sync of the file, the journal, the directory and the catalogue, in the order in which they come.
        all += (1...14).map { Moment(calls: "fsync,fdatasync,unlinkat,renameat2", count: $0, size: large) }
        all += (1...10).map { Moment(calls: "fsync,fdatasync,linkat", count: $0, size: small) }
        return all
    }()

    @Test(
        "Kill during publishing: the next launch completes the download without fetching a published file again (B1)",
        arguments: moments)
    func killed(_ moment: Moment) async throws {
        try await AppHome.run { home in
            let resource = Resource(size: moment.size, seed: 9)
            home.server.serve("/f", resource)
            // The first launch makes the files of the catalogue.
            let before = try home.app()
            try await before.ask("activate")
            try await before.close()
            let first = try home.app(shell: Strace.line(calls: moment.calls, count: moment.count))
            if try await first.attempt("add", ["id": "f", "url": home.server.url("/f")]) != nil,
                try await first.attempt("wait", ["id": "f", "state": "completed"]) != nil
            {
                // The run had fewer such calls.
                try await first.close()
                #expect(moment.count > 1, "\(moment.calls) is never called")
            }
            await first.wait { _ in false }

            let isNamed = home.names.contains("f")
            if isNamed { home.shop.expect(home.directory + "/f", is: resource) }
            let (served, requests) = (home.server.bodyBytes("/f"), home.server.traffic.requestCount)
            let second = try home.app()
            if try await second.list().isEmpty {
                #expect(served == 0, "nothing begins before it is listed")
                try await second.ask("add", ["id": "f", "url": home.server.url("/f")])
            }
            #expect(try await second.ask("wait", ["id": "f", "state": "completed"]).state == "completed")
            await second.waitForEnd(of: "f")
            try await second.close()
            #expect(home.names == ["f"])
            home.shop.expect(home.directory + "/f", is: resource)
            if isNamed {
                #expect(home.server.traffic.requestCount == requests)
                #expect(home.server.bodyBytes("/f") == served)
            }
            // The end is one event number, however often it is reported.
            let third = try home.app(delegate: "print")
            try await third.ask("activate")
            await third.waitForCall("didFinish ")
            try await third.close()
            #expect(third.calls == ["didComplete f", "didFinish "])
            #expect(third.numbers(of: "f").count == 1)
            #expect(third.numbers(of: "f") == second.numbers(of: "f"))
        }
    }
}
