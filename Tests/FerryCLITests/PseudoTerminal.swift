import Foundation
import Synchronization

/// Both ends of a pseudo-terminal.
final class PseudoTerminal: Sendable {
    /// The end that the process gets.
    let child: FileHandle
    private let parent: FileHandle
    private let isDrained = Mutex<(done: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    /// TIOCSPTLCK and TIOCGPTN.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init(columns: Int, lines: Int) throws {
        // The calls behind grantpt, unlockpt and ptsname, which the Glibc module lacks (ioctl_tty(2)).
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: UInt32 = 0
        var isLocked: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, Self.setLock, &isLocked) == 0,
            ioctl(descriptor, Self.getNumber, &number) == 0
        else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let name = "/dev/pts/\(number)"
        parent = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard other >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        child = FileHandle(fileDescriptor: other, closeOnDealloc: true)
        resize(columns: columns, lines: lines)
    }

    func resize(columns: Int, lines: Int) {
        var size = winsize()
        size.ws_col = UInt16(columns)
        size.ws_row = UInt16(lines)
        _ = ioctl(parent.fileDescriptor, UInt(TIOCSWINSZ), &size)
    }

    func closeChildSide() { try? child.close() }

    func write(_ text: String) { try? parent.write(contentsOf: Data(text.utf8)) }

    /// Passes on the bytes until the process has closed its side.
    func read(_ body: @escaping @Sendable ([UInt8]) -> Void) {
        let descriptor = parent.fileDescriptor
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                // EIO: the other side is closed.
                guard count > 0 else { break }
                body(Array(buffer[..<count]))
            }
            let waiting = isDrained.withLock { state in
                state.done = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Returns when everything has been read.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = isDrained.withLock { state in
                if !state.done { state.waiting.append(continuation) }
                return state.done
            }
            if isDone { continuation.resume() }
        }
    }
}
