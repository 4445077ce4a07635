#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension DeterministicBytes {
    /// The result of comparing a file with the bytes of a seed.
    public enum FileComparison: Sendable, Hashable, CustomStringConvertible {
        /// Every byte is correct.
        case equal
        /// The offset of the first wrong byte.
        case differs(at: Int64)
        /// The existing bytes are correct, but the length is not.
        case length(Int64)
        /// The file cannot be read; the payload is `errno`.
        case unreadable(Int32)

        /// The text for test messages.
        public var description: String {
            switch self {
            case .equal: "equal"
            case .differs(let offset): "differs at \(offset)"
            case .length(let length): "has \(length) bytes"
            case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
            }
        }
    }

    /// Compares a file with bytes `0 ..< size` of this seed, reading it in pieces of 1 MiB.
    public func compare(file path: String, size: Int64) -> FileComparison {
        compare(file: path, ranges: [0..<size], length: size)
    }

    /// Compares ranges of a file with those of this seed, and its length with `length` if given.
    public func compare(file path: String, ranges: [Range<Int64>], length: Int64? = nil) -> FileComparison {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return .unreadable(errno) }
        defer { close(descriptor) }
        let pieceSize = 1 << 20
        let read = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        let expected = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        defer {
            read.deallocate()
            expected.deallocate()
        }
        for range in ranges {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let wanted = Int(min(Int64(pieceSize), range.upperBound - offset))
                let count = pread(descriptor, read.baseAddress, wanted, off_t(offset))
                guard count >= 0 else {
                    if errno == EINTR { continue }
                    return .unreadable(errno)
                }
                guard count > 0 else { return .length(offset) }
                fill(UnsafeMutableRawBufferPointer(rebasing: expected[..<count]), at: offset)
                guard let left = read.baseAddress, let right = expected.baseAddress else { return .unreadable(ENOMEM) }
                if memcmp(left, right, count) != 0 {
                    let index = (0..<count).first { read[$0] != expected[$0] } ?? 0
                    return .differs(at: offset + Int64(index))
                }
                offset += Int64(count)
            }
        }
        guard let length else { return .equal }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { return .unreadable(errno) }
        return Int64(end) == length ? .equal : .length(Int64(end))
    }

    /// Writes bytes `0 ..< size` to a descriptor. Returns false on failure (a closed pipe).
    public func write(size: Int64, to descriptor: Int32) -> Bool {
        let pieceSize = 1 << 20
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(Int64(pieceSize), size - offset))
            fill(UnsafeMutableRawBufferPointer(rebasing: piece[..<count]), at: offset)
            var done = 0
            while done < count {
                let written = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: piece[done..<count]))
                if written < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                done += written
            }
            offset += Int64(count)
        }
        return true
    }
}

/// Declared outside the type, whose own `write` would hide the function.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
