import FerryTesting
import Foundation
import Synchronization

@testable import Ferry
@testable import FerryEngine

/// The machine's clock, which a test can advance; a frozen one moves only then.
final class JumpingClock: EngineClock {
    private let offset = Mutex(Duration.zero)
    private let system = SystemClock()
    private let isFrozen: Bool

    init(isFrozen: Bool = false) { self.isFrozen = isFrozen }

    func jump(_ duration: Duration) { offset.withLock { $0 += duration } }
    func now() -> Duration { offset.withLock { $0 } + (isFrozen ? .zero : system.now()) }
    func date() -> Date { system.date() }
    func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
}

extension Workshop {
    /// An engine with the smallest random numbers: a back-off takes a tenth of its maximum.
    func engine(
        fileSystem: any FileSystem = LocalFileSystem(), clock: any EngineClock = SystemClock(),
        transport: (any Transport)? = nil
    ) -> EngineProvider {
        EngineProvider(clock: clock) { configuration in
            EngineEnvironment(
                transport: transport ?? HTTPTransport(configuration.transfer), fileSystem: fileSystem, clock: clock,
                throttle: Throttle(rate: configuration.rateLimit, clock: clock), random: { 0 })
        }
    }

    /// Waits until the state meets the condition, or the download has ended.
    func reach(_ download: Download, _ isSuch: @Sendable (DownloadState) -> Bool) async {
        for await status in download.updates where isSuch(status.state) || status.state.isFinal { break }
    }

    /// The SHA-256 of a resource, computed faster than by the origin.
    func sha256(_ resource: Resource) -> String {
        Checksum(algorithm: .sha256, bytes: ByteDigest.of(resource.bytes(0..<resource.size), .sha256))?.hex ?? ""
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
    }
}
