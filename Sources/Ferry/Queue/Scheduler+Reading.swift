import FerryCore
import FerryEngine
import SystemPackage

/// Reading the file of a download.
extension Scheduler {
    func contentReader(
        of download: Download, _ range: Range<ByteCount>?, _ description: DownloadContent.Description?
    ) -> any ContentReader {
        ContentReading(download, in: self, range: range, of: description)
    }

    /// The published file, open for reading; `nil` if the download is not completed.
    func publishedContent(of live: LiveDownload) async throws(DownloadError) -> DownloadContent.Description? {
        guard case .completed = live.current, let finished = live.finished else { return nil }
        if finished.path.isEmpty {
            throw DownloadError(.wrongState, ErrorPhrase(.readsStream, live.status.name))
        }
        let published = try await store?.row(live.id)?.published
        let file = try await ContentFile.open(
            FilePath(finished.path), environment.files, within: live.request.root)
        guard file.status.length == finished.totalBytes, published.map(file.isUnchanged(since:)) ?? true else {
            throw DownloadError(.conflict, ErrorPhrase(.otherThanSaved, finished.path), recovery: .needsUser)
        }
        return DownloadContent.Description(
            size: finished.totalBytes, mediaType: finished.contentType,
            entityTag: finished.etag.flatMap { EntityTag($0) }.flatMap { $0.isWeak ? nil : $0.field } ?? file.entityTag,
            lastModified: finished.lastModified, isComplete: true, file: file)
    }
}
