package import FerryCore
package import SystemPackage

/// An open file: positional reads and writes, syncs, a lock.
///
/// Every call blocks, and may come from any thread. A call after ``close()`` throws ``FileError/Kind/closed``.
package protocol File: AnyObject, Sendable {
    /// The path that the file was opened with; for messages only, because the file may have been renamed.
    var path: FilePath { get }

    /// Writes all of `bytes` at `offset`; on an error some of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError)

    /// Fills `buffer` from `offset` and returns the count, which is less than requested only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int

    /// Makes the data written so far durable before any data that is written later on the same volume: flushed past the disk's
    /// cache (`fdatasync`), or on Apple's systems at least ordered (`F_BARRIERFSYNC`).
    ///
    /// An error is reported once: a second call may succeed although the data is lost, so it proves nothing.
    func dataSync() throws(FileError)

    /// Flushes the file, including its times and mode, past the disk's cache (`fsync`, `F_FULLFSYNC`).
    func sync() throws(FileError)

    func truncate(to length: ByteCount) throws(FileError)

    /// Allocates blocks for `length` bytes and extends the file to at least that length with zeros.
    ///
    /// Returns `false`, without any change, if the file system cannot allocate. Must not run concurrently with
    /// writes.
    func allocate(length: ByteCount) throws(FileError) -> Bool

    /// Acquires the exclusive advisory lock of this open file (`flock`); returns `false` if another open file holds it.
    func tryLock() throws(FileError) -> Bool

    func status() throws(FileError) -> FileStatus

    /// Sets the permission bits, regardless of the umask.
    func setMode(_ mode: UInt16) throws(FileError)

    func setModificationTime(_ time: FileTime) throws(FileError)

    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError)

    /// Returns the value of an extended attribute; `nil` if it does not exist.
    func attribute(_ name: String) throws(FileError) -> [UInt8]?

    /// Reports the role of the file or directory to the system, where the system uses it. A failure does not affect the
    /// download.
    func mark(as role: FileRole)

    /// Closes the file and releases its lock; idempotent, also called on deinitialization.
    ///
    /// The descriptor is closed after the calls in progress on other threads, so that none of them uses a recycled
    /// number.
    func close()
}

/// The role of a file for the system, which on phones backs up files and locks them with the device.
package enum FileRole: String, Sendable, Hashable {
    /// Bytes that can be fetched again, and their records: excluded from backups, and accessible after the device has been
    /// unlocked once since its start, so that a background launch can continue with them.
    case unfinished
    /// A file of the user, which backups include.
    case finished
    /// A directory of Ferry's own records: accessible like unfinished files, including files that are created in it.
    case records
}

extension File {
    package func write(_ bytes: [UInt8], at offset: ByteCount) throws(FileError) {
        // `withUnsafeBytes` does not propagate typed errors yet, so pass the error out as a `Result`.
        let result: Result<Void, FileError> = bytes.withUnsafeBytes { buffer in
            do throws(FileError) { return .success(try write(buffer, at: offset)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Returns exactly the bytes of `range`; throws ``FileError/Kind/endedEarly`` if the file is shorter.
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
