import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryEngine

/// `ferry serve` as a process of its own.
final class ServedDaemon: Sendable {
    private let process = Process()
    private let output = Pipe()
    private let bell = Signal()
    private let hasEnded = Mutex(false)

    /// Starts it, and returns once it listens.
    static func start(environment: [String: String]) async throws -> ServedDaemon {
        let daemon = try ServedDaemon(environment)
        let line = await daemon.readyLine()
        guard case .listening = try APICoding.decode(ReadyLine.self, from: line) else {
            throw CocoaError(
                .executableLoad, userInfo: [NSDebugDescriptionErrorKey: String(decoding: line, as: UTF8.self)])
        }
        return daemon
    }

    private init(_ environment: [String: String]) throws {
        process.executableURL = try AppProcess.program("ferry")
        process.arguments = ["serve", "--ready-fd", "1"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { [bell, weak self] _ in
            self?.hasEnded.withLock { $0 = true }
            bell.ring()
        }
        _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        let id = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 300) { [weak self] in
            if let self, !self.hasEnded.withLock({ $0 }) { Foundation.kill(id, SIGKILL) }
        }
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// What it says until it closes its standard output, or has said one line.
    private func readyLine() async -> Data {
        let reading = output.fileHandleForReading
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                while line.last != UInt8(ascii: "\n"), case let data = reading.availableData, !data.isEmpty {
                    line += data
                }
                continuation.resume(returning: line)
            }
        }
    }

    /// `kill -9`; returns when it is gone.
    func kill() async { await end(SIGKILL) }

    /// Asks it to leave; returns when it has.
    func stop() async { await end(SIGTERM) }

    private func end(_ signal: Int32) async {
        if !hasEnded.withLock({ $0 }) { Foundation.kill(process.processIdentifier, signal) }
        while true {
            let heard = bell.rings
            if hasEnded.withLock({ $0 }) { return }
            await bell.wait(after: heard)
        }
    }
}
