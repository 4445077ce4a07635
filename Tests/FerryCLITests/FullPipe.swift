import Foundation

/// A full pipe for standard output: a writer waits until the test reads.
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
        // The flag belongs to the open file, not to the descriptor: the process would have it too.
        _ = fcntl(descriptor, F_SETFL, flags)
        guard count > 0 else { throw POSIXError(.EIO) }
        filled = count
    }

    var writing: FileHandle { pipe.fileHandleForWriting }

    /// Makes room, and returns the text that follows the filling, to the end.
    func rest() async -> String { String(decoding: await data(), as: UTF8.self) }

    /// Makes room, and returns the bytes that follow the filling, to the end.
    func data() async -> Data {
        let reading = pipe.fileHandleForReading
        let data = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: reading.readDataToEndOfFile()) }
        }
        return Data(data.dropFirst(filled))
    }

    /// Closes the reading end.
    func close() { try? pipe.fileHandleForReading.close() }
}
