import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Testing

@testable import FerryServer

@Suite("Private addresses at the daemon", .timeLimit(.minutes(30)))
struct PrivateAddressTests {
    @Test(
        "Daemon: private addresses are refused if the daemon or the download forbids them",
        arguments: [
            (false, nil, "failed"), (false, true, "failed"), (true, false, "failed"), (true, nil, "completed"),
        ] as [(Bool, Bool?, String)])
    func rules(daemon: Bool, download: Bool?, state: String) async throws {
        try await DaemonRig.run(settings: #"{"allowsPrivate": \#(daemon)}"#) { rig async throws in
            let added = try await rig.add(rig.new("/file/1k") { $0.allowsPrivate = download })
            let ended = try await rig.reach(state, added.id)
            #expect(ended.status.state.kind.rawValue == state)
            if case .failed(let error) = ended.status.state { #expect(error.code == .refused) }
            #expect((rig.origin.traffic.acceptedConnections > 0) == (state == "completed"))
        }
    }

    @Test("API add: a part file with secrets is refused without an origin for them, and accepted with one")
    func secretsOrigin() async throws {
        try await DaemonRig.run { rig async throws in
            var new = RawRequest()
            new.part = rig.downloads + "/a.part"
            new.user = "me"
            new.startsPaused = true
            let refused = try await rig.ask(.add, body: new)
            #expect(refused.status == 400 && refused.text.contains("no server that they are for"))
            new.secretsOrigin = "https://a.test/path"
            #expect(try await rig.ask(.add, body: new).text.contains("is not a server"))
            new.secretsOrigin = "https://a.test"
            let taken = try await rig.ask(.add, body: new)
            #expect(!taken.text.contains("no server"))
        }
    }
}
