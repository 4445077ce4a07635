import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

@Suite("Changes during a run", .timeLimit(.minutes(30)))
struct ChangeTests {
    @Test("Driver: reconnect() during a transfer continues it without a counted attempt", arguments: [1, 8])
    func reconnect(connections: Int) async throws {
        try await DriverRig.with { rig in
            let resource = Resource(size: 40_000_000)
            rig.server.serve("/f", resource)
            rig.server.script("/f", [.stall(after: 12_000_000)])
            let run = rig.start(try rig.request("/f") { $0.maxConnections = connections }) { $0.maxRetries = 0 }
            await run.reach(12_000_000)
            let before = rig.server.requests.count
            rig.environment.renewConnections()
            run.driver.reconnect()
            let end = await run.end()
            #expect(end.file?.totalBytes == 40_000_000)
            #expect(end.retries == [])
            #expect(rig.holds("f", resource))
            // What the server has sent says less: bytes in the sockets of eight connections are lost.
            let asked = rig.server.requests.dropFirst(before).compactMap { $0.range.map(Self.bytes) }
            #expect(!asked.isEmpty)
            #expect(RangeSet(asked.map { $0.clamped(to: 0..<40_000_000) }).byteCount <= 28_000_000)
        }
    }

    /// The bytes that a field `Range: bytes=2-4` or `bytes=2-` asks for.
    private static func bytes(_ field: String) -> Range<Int64> {
        let bounds = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int64($0) }
        return bounds[0]..<(bounds.count > 1 ? bounds[1] + 1 : .max)
    }

    @Test("Driver: reconnect() before the first response head completes without a counted attempt")
    func reconnectBeforeHead() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 3_000_000))
            let gate = Gate()
            rig.server.script("/f", [.hold(gate)])
            let run = rig.start(try rig.request("/f")) { $0.maxRetries = 0 }
            await gate.arrived()
            run.driver.reconnect()
            #expect(await run.end().retries == [])
            #expect(rig.holds("f", Resource(size: 3_000_000)))
            gate.open()
        }
    }

    @Test("Driver: retryNow() and reconnect() end a back-off, and the download completes", arguments: [true, false])
    func retryNow(byReconnecting: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 3_000_000))
            rig.server.script("/f", [.status(503, retryAfter: "3000")])
            let run = rig.start(try rig.request("/f"))
            await run.said { if case .waiting(.retry) = $0 { true } else { false } }
            if byReconnecting { run.driver.reconnect() } else { run.driver.retryNow() }
            let end = await run.end()
            #expect(end.file != nil)
            #expect(end.retries == [1])
        }
    }

    @Test("HTTPTransport: after renew() a new connection is opened, and after shutdown() none")
    func renewed() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 100))
            for _ in 0..<2 {
                #expect(await transport.failure(of: TransferRequest(url: try server.downloadURL("/f"))) == nil)
            }
            #expect(server.traffic.acceptedConnections == 1)
            transport.renew()
            #expect(await transport.failure(of: TransferRequest(url: try server.downloadURL("/f"))) == nil)
            #expect(server.traffic.acceptedConnections == 2)
            await transport.shutdown()
            transport.renew()
            let failure = await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
            #expect(failure?.kind == .cancelled)
        }
    }

    @Test("Driver: lifting its own or the global rate limit ends the wait under it", arguments: [true, false])
    func rateRaised(isGlobal: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 3_000_000))
            if isGlobal { rig.environment.set(rateLimit: 10) }
            // At ten bytes per second the run would sleep for hours.
            let run = rig.start(try rig.request("/f") { $0.rateLimit = isGlobal ? nil : 10 })
            await run.reach(1)
            if isGlobal { rig.environment.set(rateLimit: nil) } else { run.driver.set(rateLimit: nil) }
            #expect(await run.end().file?.totalBytes == 3_000_000)
        }
    }

    @Test("HTTPTransport: the receive buffer cap follows the global and the download's rate limit")
    func pieces() async throws {
        try await DriverRig.with { rig in
            let transport = try #require(rig.environment.transport as? HTTPTransport)
            let most = transport.receiveBufferCap
            rig.environment.set(rateLimit: 1_000_000)
            #expect(transport.receiveBufferCap == 20_000)
            rig.environment.set(rateLimit: nil)
            #expect(transport.receiveBufferCap == most)
            rig.server.serve("/f", Resource(size: 3_000_000))
            rig.server.script("/f", [.stall(after: 2_000_000)])
            let run = rig.start(try rig.request("/f") { $0.maxConnections = 1 })
            await run.reach(2_000_000)
            run.driver.set(rateLimit: 1_000_000)
            #expect(transport.receiveBufferCap == 64 << 10)
            run.driver.set(rateLimit: nil)
            #expect(transport.receiveBufferCap == most)
            run.driver.set(rateLimit: 1_000_000)
            run.driver.stop(.pause)
            _ = await run.end()
            #expect(transport.receiveBufferCap == most)
        }
    }

    @Test("Driver: maxConnections set during a run raises and lowers the number of connections")
    func connections() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Resource(size: 1_000_000_000))
            rig.server.setConnectionRate(2_000_000)
            let run = rig.start(try rig.request("/f") { $0.maxConnections = 1 })
            await run.reach(1_000_000)
            run.driver.set(maxConnections: 4)
            await run.until { ($0.progress()?.connections ?? 0) > 1 }
            run.driver.set(maxConnections: 1)
            await run.until { ($0.progress()?.connections ?? 0) <= 1 }
            #expect(run.driver.transfer.maxConnections == 1)
            run.driver.stop(.cancel)
            #expect(await run.end().retries == [])
        }
    }
}
