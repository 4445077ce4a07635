import FerryCore

extension DownloadManager {
    /// Moves a download's files to another directory.
    package func relocate(_ download: Download, to directory: String) async throws(DownloadError) {
        throw DownloadError(.wrongState, "files cannot be moved by this version", recovery: .permanent)
    }
}
