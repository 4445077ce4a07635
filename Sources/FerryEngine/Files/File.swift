package import FerryCore
package import SystemPackage

/// One open file: bytes at offsets, syncs, a lock.
///
/// Every call blocks, and may come from any thread. A call after ``close()`` throws ``FileError/Kind/closed``.
package protocol File: AnyObject, Sendable {
    /// The path it was opened under; for messages only, the file may have another name by now.
    var path: FilePath { get }

    /// Writes all of `bytes` at `offset`; on an error some of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError)

    /// Fills `buffer` from `offset`; gives the count, which is less than asked only where the file ends.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int

    /// Brings the bytes written so far to the disk, past its cache (`fdatasync`, `F_FULLFSYNC`).
    ///
    /// An error comes once: a second call may succeed although the bytes are lost, so it proves nothing.
    func dataSync() throws(FileError)

    /// As ``dataSync()``, with times and mode.
    func sync() throws(FileError)

    func truncate(to length: ByteCount) throws(FileError)

    /// Reserves blocks for `length` bytes and makes the file at least that long; the new bytes are zeros.
    ///
    /// Gives `false` where the file system cannot do that; then nothing changed. Not while others write.
    func allocate(length: ByteCount) throws(FileError) -> Bool

    /// Takes the exclusive advisory lock of this open file (`flock`); `false` when another open file has it.
    func tryLock() throws(FileError) -> Bool

    func status() throws(FileError) -> FileStatus

    /// Sets the permission bits, exactly these.
    func setMode(_ mode: UInt16) throws(FileError)

    func setModificationTime(_ time: FileTime) throws(FileError)

    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError)

    /// The value of an extended attribute; `nil` when it has none of that name.
    func attribute(_ name: String) throws(FileError) -> [UInt8]?

    /// Closes it, which gives the lock back; idempotent, also done when the file is let go.
    ///
    /// Calls under way on other threads finish first, so that none of them meets a number used anew.
    func close()
}

extension File {
    package func write(_ bytes: [UInt8], at offset: ByteCount) throws(FileError) {
        // Typed errors do not pass through rethrowing closures yet: carry it out by hand.
        let result: Result<Void, FileError> = bytes.withUnsafeBytes { buffer in
            do throws(FileError) { return .success(try write(buffer, at: offset)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Exactly the bytes of `range`; ``FileError/Kind/endedEarly`` when the file is shorter.
    package func read(_ range: Range<ByteCount>) throws(FileError) -> [UInt8] {
        guard range.lowerBound >= 0, let count = Int(exactly: range.upperBound - range.lowerBound) else {
            throw FileError(.read, path, kind: .endedEarly)
        }
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
            } catch {
                failure = error
                initialized = 0
            }
        }
        if let failure { throw failure }
        guard bytes.count == count else { throw FileError(.read, path, kind: .endedEarly) }
        return bytes
    }
}
