import FerryCore

extension FileIO {
    /// Reads a file up to `end`, starting from the state of the digest that `begin` returns. Returns the digest of all bytes;
    /// `nil` if `isStopped` returned `true` meanwhile.
    func digest(
        to end: ByteCount, unless isStopped: () -> Bool, _ begin: @escaping @Sendable (Disk) -> PrefixDigest
    ) async throws(DownloadError) -> PrefixDigest? {
        var begun: PrefixDigest?
        repeat {
            if isStopped() { return nil }
            do throws(FileError) {
                begun = try await run { [begun] disk throws(FileError) in
                    var digest = begun ?? begin(disk)
                    try digest.advance(to: min(end, digest.position + 8 << 20))
                    return digest
                }
            } catch { throw DownloadError(error) }
        } while begun.map { $0.position < end } ?? true
        return begun
    }
}
