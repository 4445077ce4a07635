import FerryCore
import struct Foundation.Date
import Synchronization
import SystemPackage

/// Finished files that exist already. Only files that pass the ownership check are accepted: any user can set a name,
/// a date or an attribute, and can change the bytes after they were compared.
extension DownloadDriver {
    /// Looks for a finished file at `path`. `isOwn`: this download published the file, as its journal says.
    func lookForFinished(_ path: FilePath, isOwn: Bool = false) async throws(DownloadError) -> FinishedDownload? {
        guard isOwn || !context.ignoresFinished,
            let named = try? fileSystem.statusIfPresent(path), named.kind == .regular
        else {
            begin(with: nil)
            return nil
        }
        let file = try? fileSystem.openOurs(path, .readOnly, for: .content)
        defer { file?.close() }
        let status = try? file?.status()
        let url = sources[0]
        // The server may choose another name, and the checksum list may contain that one.
        try? await lookUpChecksum(for: namesBeforehand)
        if let checksum = state.withLock({ $0.checksum }), let file, let status {
            report(.state(.verifying))
            let actual = await digest(of: file, length: status.length, checksum.algorithm)
            if stopWanted != nil {
                begin(with: nil)
                return nil
            }
            if actual == checksum.bytes {
                return FinishedDownload(
                    path: path.string, totalBytes: status.length, proof: .digest, wasAlreadyComplete: true,
                    finalURL: url.redacted)
            }
            report(.event(.note(Reason(.otherDigest, "\(path)"))))
        }
        if request.onConflict == .skip {
            report(.event(.note(Reason(.skipped, "\(path)"))))
            return FinishedDownload(
                path: path.string, totalBytes: named.length, proof: .none, wasAlreadyComplete: true,
                finalURL: url.redacted)
        }
        var finished: FileIdentity?
        if state.withLock({ $0.checksum }) == nil, let file, let status,
            let attribute = SourceAttribute.read(file), attribute.matches(url: url.text, status),
            attribute.etag != nil || attribute.lastModified != nil
        {
            finished = FileIdentity(
                etag: attribute.etag, lastModified: attribute.lastModified, totalBytes: status.length)
        }
        begin(with: nil, finished: finished)
        return nil
    }

    /// Returns the file at `path` if it is complete as far as a plain GET can tell: equal length and equal
    /// modification time. A strong ETag stored in the file's attribute takes precedence.
    func existing(at path: FilePath, representation: Representation) -> FinishedDownload? {
        guard !context.ignoresFinished, state.withLock({ $0.checksum == nil && !$0.distrustsFinished }),
            request.checksumList == nil, let total = representation.identity.totalBytes,
            let file = try? fileSystem.openOurs(path, .readOnly, for: .content)
        else { return nil }
        defer { file.close() }
        guard let status = try? file.status(), status.length == total else { return nil }
        let found = FinishedDownload(
            path: path.string, totalBytes: total, proof: .weak, wasAlreadyComplete: true,
            finalURL: state.withLock { $0.finalURL?.redacted ?? "" }, contentType: representation.identity.contentType,
            etag: representation.identity.etag, lastModified: representation.identity.lastModified)
        if let attribute = SourceAttribute.read(file), attribute.isOf(status) {
            // The file came from another URL, and different files may share length and date.
            guard attribute.matches(url: sources[0].text, status) else { return nil }
            if let tag = representation.identity.strongTag, let own = attribute.etag { return own == tag ? found : nil }
        }
        guard let text = representation.identity.lastModified, let date = HTTPDate.parse(text) else { return nil }
        return status.modified.seconds == Int64(date.timeIntervalSince1970) ? found : nil
    }

    private func digest(of file: any File, length: ByteCount, _ algorithm: DigestAlgorithm) async -> [UInt8]? {
        try? await read(PrefixDigest(algorithm, of: file), to: length)
    }

    /// Handles a 304 response: the finished file is unchanged.
    func finishUnchanged() {
        state.withLock { state in
            let path: FilePath
            switch request.destination {
            case _ where state.finishedPath != nil: path = state.finishedPath ?? ""
            case .file(let name): path = absolute(name)
            case .directory(let directory, _): path = absolute(directory).appending(state.name)
            case .part, .stream: return
            }
            let known = state.machine.finished
            state.existing = FinishedDownload(
                path: path.string, totalBytes: known?.totalBytes ?? 0, proof: state.machine.finishedProof,
                wasAlreadyComplete: true, finalURL: state.finalURL?.redacted ?? "", etag: known?.etag,
                lastModified: known?.lastModified)
        }
        updates.notify()
    }
}
