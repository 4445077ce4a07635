import FerryCore
import Synchronization
import SystemPackage

/// Finished files with the bytes that were just received.
///
/// A server without validators, or with a Last-Modified that is always now, cannot be asked whether its file is still the
/// one that an earlier run fetched. Once all bytes are there they are compared, so that a repeated run leaves no copy.
extension DownloadDriver {
    /// Returns the file of an earlier run, or of another program, that has the wanted name and the received bytes; `nil`
    /// if there is none, or the download was stopped. Files of other URLs are left to these.
    ///
    /// - Parameter digest: Returns the SHA-256 of the received bytes; called only if a file has their length.
    func twin(
        of total: ByteCount, proof: Proof, digest: () async throws(DownloadError) -> [UInt8]?
    ) async throws(DownloadError) -> FinishedDownload? {
        guard request.onConflict == .rename, !context.ignoresFinished, context.replaces == nil,
            let wanted = state.withLock({ $0.placement.wanted })
        else { return nil }
        let candidates = await files.run { [self] disk in
            ([wanted] + copies(of: wanted, disk)).compactMap { twinCandidate(at: $0, of: total, disk) }
        }
        defer { for candidate in candidates { candidate.file.close() } }
        guard !candidates.isEmpty, let own = try await digest() else { return nil }
        for candidate in candidates {
            let other = try await read(to: total) { _ in PrefixDigest(.sha256, of: candidate.file) }?.finish()
            guard other == own, await files.run({ candidate.isUnchanged($0) }) else { continue }
            var finished = finished(path: candidate.path.string, total: total, proof: proof)
            finished.wasAlreadyComplete = true
            return finished
        }
        return nil
    }

    private func twinCandidate(at path: FilePath, of total: ByteCount, _ disk: Disk) -> Candidate? {
        guard (try? disk.fileSystem.exists(FilePath(path.string + Aria2ControlFile.suffix))) == false,
            let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
        else { return nil }
        let isOfOther = SourceAttribute.read(file).map { !$0.isFrom(url: sources[0].text) } ?? false
        if let status = try? file.status(), status.length == total, !isOfOther {
            return Candidate(path: path, file: file, status: status, isHalf: false)
        }
        file.close()
        return nil
    }
}
