import Foundation

/// The three descriptors that every program is given, or should be.
package enum StandardStreams {
    /// Makes descriptors 0, 1 and 2 exist: without that, the next file to be opened would *be* standard output, and a
    /// printed path would be written into a download.
    ///
    /// A missing standard output is opened so that writing to it fails: bytes for `-o -` must not vanish unnoticed.
    package static func fillGaps() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Lets writing to a closed pipe be an error instead of a signal.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Lets writing beyond `ulimit -f` be an error (EFBIG) instead of a signal.
    package static func ignoreSizeLimit() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// Writes all bytes; false when the other end is gone or the disk is full.
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
                // Somebody else made the shared terminal or pipe non-blocking: wait until it takes more.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else {
                return false
            }
        }
        return true
    }
}

/// Outside the type, whose own `write` would hide the system's.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
