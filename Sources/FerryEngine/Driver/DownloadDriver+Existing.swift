import FerryCore
import struct Foundation.Date
import Synchronization
import SystemPackage

/// A finished file that is there already. Only what is ours is the answer: anybody can give a file a name, a date, an
/// attribute, and the right bytes until they have been compared.
extension DownloadDriver {
    /// `isOwn`: it was published by this download, whose journal says so.
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
        // The server may give it another name, and the list know that one.
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

    /// A plain GET on a file that is there: equal length and equal date mean that it is complete. Where the file itself
    /// carries the strong ETag that it had, that alone decides.
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
            // It came from another URL: two files may well have one length and one date.
            guard attribute.matches(url: sources[0].text, status) else { return nil }
            if let tag = representation.identity.strongTag, let own = attribute.etag { return own == tag ? found : nil }
        }
        guard let text = representation.identity.lastModified, let date = HTTPDate.parse(text) else { return nil }
        return status.modified.seconds == Int64(date.timeIntervalSince1970) ? found : nil
    }

    private func digest(of file: any File, length: ByteCount, _ algorithm: DigestAlgorithm) async -> [UInt8]? {
        try? await read(PrefixDigest(algorithm, of: file), to: length)
    }

    /// The server said that the finished file is unchanged.
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
