import Foundation

/// The standard descriptors 0, 1 and 2.
package enum StandardStreams {
    /// Opens missing standard descriptors. Otherwise the next opened file would *become* standard output, and a
    /// printed path would be written into a download.
    ///
    /// A missing standard output is opened read-only, so that writing fails: the bytes of `-o -` must not be lost
    /// silently.
    package static func fillGaps() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Makes writing to a closed pipe an error instead of a signal.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Makes writing beyond `ulimit -f` an error (EFBIG) instead of a signal.
    package static func ignoreSizeLimit() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// Writes all bytes. Returns false if the reader is gone or the disk is full.
    package static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Bool {
        let isWritten = bytes.withContiguousStorageIfAvailable { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
        return isWritten ?? Array(bytes).withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = writeBytes(descriptor, part)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                // Another process made the shared terminal or pipe non-blocking: wait until it is writable.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else {
                return false
            }
        }
        return true
    }
}

/// Outside the type, whose own `write` would hide the function.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
