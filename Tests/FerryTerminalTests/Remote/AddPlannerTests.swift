import ArgumentParser
import Ferry
import FerryTerminal
import Foundation
import Synchronization
import Testing

@Suite("AddPlanner") struct AddPlannerTests {
    private static func plan(
        _ change: (inout AddOptions) -> Void, lists: [String: String] = [:]
    ) throws -> (requests: [DownloadRequest], made: [String]) {
        var options = try AddOptions.parse([])
        change(&options)
        let made = Made()
        let world = PlanningWorld(
            environment: [:], readText: { lists[$0] ?? "" },
            kind: { $0.hasSuffix(".part") ? .file : $0 == "folder" ? .directory : .missing },
            prepareDirectory: { path in made.paths.withLock { $0.append(path) } }, password: { _ in "" })
        let plan = try AddPlanner.plan(
            options, directory: "/downloads", world: world, now: Date(timeIntervalSince1970: 0),
            zone: .fixed(0)
        ) { $0.hasPrefix("/") ? $0 : "/here/" + $0 }
        let requests = plan.items.compactMap(\.request).map(plan.complete)
        return (requests, made.paths.withLock { Set($0).sorted() })
    }

    private final class Made: Sendable {
        let paths = Mutex<[String]>([])
    }

    @Test("AddPlanner: downloads go to the daemon's directory unless an option says otherwise, by absolute path")
    func places() throws {
        let url = "http://example.com/a.iso"
        func place(_ change: (inout AddOptions) -> Void) throws -> DownloadRequest.Destination? {
            try Self.plan {
                $0.files.items = [url]
                change(&$0)
            }.requests.first?.destination
        }
        #expect(try place { _ in } == .directory("/downloads"))
        #expect(try place { $0.files.directory = "x" } == .directory("/here/x"))
        #expect(try place { $0.files.output = "b.iso" } == .file("/downloads/b.iso"))
        #expect(
            try place {
                $0.files.output = "b.iso"
                $0.files.directory = "x"
            } == .file("/here/x/b.iso"))
        #expect(try place { $0.files.output = "/tmp/b.iso" } == .file("/tmp/b.iso"))
        #expect(try place { $0.files.items = ["a.iso.part"] } == .part("/here/a.iso.part"))
        let listed = try Self.plan(
            { $0.files.lists = ["l"] }, lists: ["l": "\(url)\n  dir=y\n\(url)?2\n  out=c\n\(url)?3\n dir=y\n out=c"])
        #expect(
            listed.requests.map(\.destination)
                == [.directory("/here/y"), .file("/downloads/c"), .file("/here/y/c")])
        #expect(listed.made == ["/downloads", "/here/y"])
    }

    @Test("AddPlanner: limit, pause, time, priority, network rule and label reach every request")
    func options() throws {
        let requests = try Self.plan {
            $0.files.items = ["http://example.com/a", "http://example.com/b"]
            $0.request.limitRate = "2M"
            $0.paused = true
            $0.at = "+1h"
            $0.priority = "high"
            $0.metered = "off"
            $0.label = "l"
            $0.again = true
        }.requests
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.rateLimit == 2_000_000)
            #expect(request.startsPaused)
            #expect(request.notBefore == Date(timeIntervalSince1970: 3600))
            #expect(request.priority == .high)
            #expect(request.network.allowsMetered == false)
            #expect(request.label == "l")
            #expect(request.onDuplicate == .addAnother)
        }
    }

    @Test("AddPlanner: a listed download is reported with its name, its state and --again")
    func listed() {
        var status = DownloadStatus(id: DownloadID(rawValue: "a"), state: .completed(.strong), name: "a\u{1B}.iso")
        #expect(
            AddPlanner.listedAlready(status)
                == "ferry: already listed: a\\x1b.iso (completed); --again adds another")
        status.state = .waiting(.credentials)
        #expect(AddPlanner.listedAlready(status).contains("(waiting: login)"))
    }

    @Test("AddPlanner: a device or FIFO below the given directory is refused and not opened")
    func streams() throws {
        var world = PlanningWorld.test()
        let kind = world.kind
        world.kind = { $0.hasSuffix("/fifo") ? .stream : kind($0) }
        world.openStream = { _ in
            Issue.record("it was opened")
            return 1
        }
        var options = try AddOptions.parse([])
        options.files.items = ["http://example.com/a"]
        (options.files.directory, options.files.output) = ("/d", "fifo")
        #expect(throws: UsageError.self) {
            try AddPlanner.plan(options, directory: "/downloads", world: world, now: Date(), zone: .current)
        }
    }

    @Test("AddPlanner: options that the daemon cannot carry out are refused")
    func refused() {
        let changes: [(inout AddOptions) -> Void] = [
            { $0.files.output = "-" }, { $0.files.output = "/dev/stdout" }, { $0.files.items = ["folder"] },
            { $0.at = "soon" }, { $0.priority = "urgent" },
            { $0.metered = "perhaps" }, { $0.files.items = [] },
        ]
        for change in changes {
            #expect(throws: UsageError.self) {
                try Self.plan {
                    $0.files.items = ["http://example.com/a"]
                    change(&$0)
                }
            }
        }
    }
}
