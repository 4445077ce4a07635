import FerryCore
import Dispatch
package import FerryEngine
import Foundation
import GRDB
import SystemPackage

extension Catalogue {
    /// A catalogue that was opened, and what was found.
    package struct Opening: Sendable {
        package let catalogue: Catalogue
        /// There was none, or the one that was there could not be used: the list may have to be found again from
        /// journals. So it stays, at every opening, until ``StoreChange/complete`` is in it.
        package let isNew: Bool
        /// Where a damaged one has been moved to; `nil` when there was none.
        package let damaged: String?

        /// What a person should know; `nil` when all was well.
        package var note: String? {
            damaged.map { "the catalogue \(catalogue.path) was damaged; it has been moved to \($0)" }
        }
    }

    /// The name of the database in its state directory.
    package static let fileName = "catalogue.sqlite"

    /// Opens or makes the catalogue in a state directory, and locks that.
    ///
    /// `directory`, absolute, is the state directory; it is made with mode 0700 when missing. Paths inside `downloads`,
    /// absolute, are written relative to it. `report` hears of submitted batches and of entries that cannot be applied or read. Throws
    /// `catalogue` when another process (or this one) has it open, when a newer Ferry made it, or when it is no
    /// catalogue: then nothing has been touched. A damaged one is moved aside, whole.
    package static func open(
        directory: String, downloads: String, fileSystem: any FileSystem = LocalFileSystem(),
        report: @escaping @Sendable (DownloadError) -> Void = { _ in }
    ) async throws(DownloadError) -> Opening {
        let opener = CatalogueOpener(
            state: FilePath(directory), root: PathRoot(downloads), fileSystem: fileSystem, report: report)
        let result: Result<Opening, DownloadError> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                do {
                    continuation.resume(returning: .success(try opener.open()))
                } catch {
                    let error = DownloadError(error, catalogue: opener.path.string, doing: .catalogueOpening)
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
