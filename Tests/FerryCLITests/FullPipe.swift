import Foundation

/// A pipe with no room left in it, for standard output: whoever writes waits until the test reads.
struct FullPipe {
    private let pipe = Pipe()
    private let filled: Int

    init() throws {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let byte: [UInt8] = [0x2E]
        var count = 0
        while write(descriptor, byte, 1) == 1 { count += 1 }
        // The flag belongs to the pipe's end, not to the descriptor: the process would have it too.
        _ = fcntl(descriptor, F_SETFL, flags)
        guard count > 0 else { throw POSIXError(.EIO) }
        filled = count
    }

    var writing: FileHandle { pipe.fileHandleForWriting }

    /// Makes room, and returns what came after the filling, up to the end, as text.
    func rest() async -> String { String(decoding: await data(), as: UTF8.self) }

    /// Makes room, and returns what came after the filling, up to the end.
    func data() async -> Data {
        let reading = pipe.fileHandleForReading
        let data = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: reading.readDataToEndOfFile()) }
        }
        return Data(data.dropFirst(filled))
    }

    /// Nobody will ever read.
    func close() { try? pipe.fileHandleForReading.close() }
}
