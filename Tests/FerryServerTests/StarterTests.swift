import CFerry
import Foundation
import Logging
import Synchronization
import Testing

@testable import FerryServer

@Suite("Starter of commands", .timeLimit(.minutes(30)))
struct StarterTests {
    private static var silent: Logger { Logger(label: "ferry") { _ in SwiftLogNoOpLogHandler() } }

    /// Two ends of a socket.
    private static func pair() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, ferry_SOCK_STREAM, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// The reported end of a command; `nil` for success.
    private static func start(
        _ starter: some CommandStarter, _ command: [String], _ variables: [String: String] = [:]
    ) async -> String? {
        await withCheckedContinuation { continuation in
            starter.start(command, variables) { continuation.resume(returning: $0) }
        }
    }

    @Test("Starter: it runs a command with its variables, and reports the end or the reason of a failure")
    func runs() async throws {
        let (ours, theirs) = Self.pair()
        let socket = MessageSocket(theirs)
        Thread.detachNewThread { StarterProcess.serve(socket, with: LocalStarter()) }
        let starter = RemoteStarter(socket: ours, process: nil, logger: Self.silent)
        let out = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: out) }
        let script = "printf %s \"$FERRY_PATH|$1\" >\"$2\""
        let failure = await Self.start(
            starter, ["/bin/sh", "-c", script, "sh", "a\nb\u{7}", out], ["FERRY_PATH": "/p q\n\""])
        #expect(failure == nil)
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "/p q\n\"|a\nb\u{7}")
        #expect(await Self.start(starter, ["/no/such/program"]) != nil)
        // The starter still works.
        #expect(await Self.start(starter, ["/bin/true"]) == nil)
    }

    @Test("Starter: a command that is too long is refused, and the next one is started")
    func tooLong() async throws {
        let (ours, theirs) = Self.pair()
        let socket = MessageSocket(theirs)
        Thread.detachNewThread { StarterProcess.serve(socket, with: LocalStarter()) }
        let starter = RemoteStarter(socket: ours, process: nil, logger: Self.silent)
        let long = String(repeating: "x", count: MessageSocket.mostBytes)
        #expect(await Self.start(starter, ["/bin/true", long])?.contains("too long") == true)
        #expect(await Self.start(starter, ["/bin/true"]) == nil)
    }

    @Test("Starter: when its process has ended, waiting and later commands fail with that reason")
    func gone() async throws {
        let (ours, theirs) = Self.pair()
        let starter = RemoteStarter(socket: ours, process: nil, logger: Self.silent)
        let waiting = await withCheckedContinuation { continuation in
            starter.start(["/bin/true"], [:]) { continuation.resume(returning: $0) }
            close(theirs)
        }
        #expect(waiting?.contains("has ended") == true)
        #expect(await Self.start(starter, ["/bin/true"])?.contains("has ended") == true)
    }

    @Test(
        "Starter: bytes that are no request end it, and start nothing",
        arguments: [
            "\n", "{}\n", "[1]\n", #"{"number":1,"command":"/bin/true","variables":{}}"# + "\n", "\u{0}\u{1}\n",
        ])
    func foreign(text: String) {
        let (ours, theirs) = Self.pair()
        let started = Mutex(0)
        let starter = Counting { started.withLock { $0 += 1 } }
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBytes { write(ours, $0.baseAddress, $0.count) } == bytes.count)
        // Returns although the other end stays open.
        StarterProcess.serve(MessageSocket(theirs), with: starter)
        #expect(started.withLock { $0 } == 0)
        close(ours)
    }

    @Test("Starter: an endless line ends it instead of filling the memory")
    func endless() {
        let (ours, theirs) = Self.pair()
        Thread.detachNewThread {
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
            for _ in 0..<32 {
                let count = send(ours, piece, piece.count, Int32(MSG_NOSIGNAL))
                if count <= 0 { break }
            }
            close(ours)
        }
        StarterProcess.serve(MessageSocket(theirs), with: Counting {})
    }

    private struct Counting: CommandStarter {
        let count: @Sendable () -> Void
        init(_ count: @escaping @Sendable () -> Void) { self.count = count }
        func start(
            _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (String?) -> Void
        ) {
            count()
            ended(nil)
        }
    }
}
