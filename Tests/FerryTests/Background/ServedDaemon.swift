import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI

/// `ferry serve` as a process of its own.
final class ServedDaemon: Sendable {
    private let program: RunningProgram
    private let output = Pipe()

    /// Starts the daemon and returns once it listens.
    static func start(environment: [String: String]) async throws -> ServedDaemon {
        let daemon = try ServedDaemon(environment)
        let line = await daemon.readyLine()
        guard case .listening = try JSONCoding.decode(ReadyLine.self, from: line) else {
            throw CocoaError(
                .executableLoad, userInfo: [NSDebugDescriptionErrorKey: String(decoding: line, as: UTF8.self)])
        }
        return daemon
    }

    private init(_ environment: [String: String]) throws {
        program = try RunningProgram(
            [try BuiltProgram.url("ferry").path, "serve", "--ready-fd", "1"],
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
    }

    /// The first line of the daemon's standard output, or all of it when that has no line.
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

    /// Sends SIGKILL and returns when the process has ended.
    func kill() async { await end(SIGKILL) }

    /// Sends SIGTERM and returns when the process has ended.
    func stop() async { await end(SIGTERM) }

    private func end(_ signal: Int32) async {
        program.signal(signal)
        _ = await program.end()
    }
}
