import FerryTesting
import NIOCore
import Synchronization
import Testing

@testable import FerryCore
@testable import FerryEngine

@Suite("Bodies that are read whole", .timeLimit(.minutes(10)))
struct ShortBodyTests {
    private static let limits = ShortBody.Limits(bytes: 1000, whole: .seconds(300), idle: .seconds(60))

    /// A body of pieces of 10 bytes, of which each comes after a time by `clock`; then it ends, or says nothing more.
    private static func body(
        _ pauses: [Duration], isWhole: Bool, _ clock: ManualClock, stopped: @escaping @Sendable () -> Void = {}
    ) -> sending TransferBody {
        let rest = Mutex(pauses[...])
        return TransferBody { () async throws(TransferFailure) in
            if let pause = rest.withLock({ $0.popFirst() }) {
                clock.advance(by: pause)
                return ByteBuffer(repeating: 0x61, count: 10)
            }
            if isWhole { return nil }
            // Until the caller is cancelled.
            try? await ManualClock().sleep(for: .seconds(1))
            stopped()
            throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
        }
    }

    private static func failure(_ body: sending TransferBody, _ clock: any EngineClock) async -> TransferFailure? {
        do throws(TransferFailure) { _ = try await ShortBody(body).collect(limits, clock: clock) } catch {
            return error
        }
        return nil
    }

    @Test("ShortBody: a body that says nothing more fails after its idle time, and its connection is closed")
    func idle() async throws {
        let isClosed = Mutex(false)
        let body = Self.body([.zero, .seconds(5)], isWhole: false, ManualClock()) { isClosed.withLock { $0 = true } }
        let failure = try #require(await Self.failure(body, QuickClock()))
        #expect(failure.phrase.key == .slowBody && failure.isTransient)
        #expect(isClosed.withLock { $0 })
    }

    @Test("ShortBody: pieces that come just in time, without end, fail at the time for the whole body")
    func drip() async throws {
        let clock = ManualClock()
        let start = clock.now()
        let endless = Array(repeating: Duration.seconds(59), count: 100)
        let failure = try #require(await Self.failure(Self.body(endless, isWhole: true, clock), clock))
        #expect(failure.phrase.key == .slowBody)
        #expect(clock.now() - start < .seconds(300 + 2 * 59))
    }

    @Test("ShortBody: a slow body within its times is whole; of a larger one the beginning is read, and no more")
    func slow() async throws {
        let clock = ManualClock()
        let slow = Array(repeating: Duration.seconds(50), count: 5)
        let whole = try await ShortBody(Self.body(slow, isWhole: true, clock)).collect(Self.limits, clock: clock)
        #expect(whole.isWhole && whole.bytes.readableBytes == 50)
        let many = Array(repeating: Duration.zero, count: 1_000_000)
        let cut = try await ShortBody(Self.body(many, isWhole: false, clock)).collect(
            ShortBody.Limits(bytes: 25), clock: clock)
        #expect(!cut.isWhole && cut.bytes.readableBytes == 25)
        let full = try await ShortBody(Self.body([.zero, .zero], isWhole: true, clock)).collect(
            ShortBody.Limits(bytes: 20), clock: clock)
        #expect(full.isWhole && full.bytes.readableBytes == 20)
    }

    @Test("ShortBody: a cancelled caller gets the body's own failure")
    func cancelled() async throws {
        let clock = ManualClock()
        let task = Task { await Self.failure(Self.body([], isWhole: false, clock), clock) }
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
    }

    // MARK: Stores

    private static func settings(_ server: OriginServer, metadata: String? = nil) throws -> TransferSettings {
        var settings = TransferSettings()
        settings.s3.endpoint = try server.downloadURL("/")
        if let metadata {
            settings.s3.metadata = try server.downloadURL(metadata)
        } else {
            settings.s3.credentials = try S3Credentials(accessKey: "a", secretKey: "b")
        }
        return settings
    }

    private static let stalls = Behaviour.raw(
        "HTTP/1.1 500 Slow\nContent-Length: 1000\n\n<Error>", ending: .hang)

    @Test("Objects: a store whose error never ends fails the request")
    func storeError() async throws {
        try await OriginServer.with(.init()) { server in
            server.serve("/bucket/k", Resource(size: 10))
            server.script("/bucket/k", [Self.stalls])
            let transport = HTTPTransport(try Self.settings(server), clock: QuickClock())
            let failure = await transport.failure(of: TransferRequest(url: try DownloadURL("s3://bucket/k")))
            #expect(failure?.phrase.key == .slowBody)
            await transport.shutdown()
        }
    }

    @Test("Objects: metadata that never ends keeps no request for objects waiting")
    func metadata() async throws {
        try await OriginServer.with(.init()) { server in
            server.serve("/bucket/k", Resource(size: 10))
            let token = "/latest/api/token"
            server.serve(token, Resource(size: 10))
            server.script(
                token, [.raw("HTTP/1.1 200 OK\nContent-Length: 1000\n\ntok", ending: .hang), .status(404)])
            let transport = HTTPTransport(try Self.settings(server, metadata: "/"), clock: QuickClock())
            let request = TransferRequest(url: try DownloadURL("s3://bucket/k"))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let response = try await transport.fetch(request)
                        let status = response.head.status
                        _ = try await response.body.collect()
                        return status
                    }
                }
                var statuses: [Int] = []
                for try await status in group { statuses.append(status) }
                return statuses
            }
            #expect(statuses == [200, 200, 200])
            #expect(server.requests.contains { $0.path == token })
            await transport.shutdown()
        }
    }
}
