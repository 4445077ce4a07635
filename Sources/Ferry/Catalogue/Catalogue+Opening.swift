import FerryCore
import Dispatch
package import FerryEngine
import Foundation
import GRDB
import SystemPackage

extension Catalogue {
    /// An opened catalogue, and the condition in which it was found.
    package struct Opening: Sendable {
        package let catalogue: Catalogue
        /// Whether the catalogue was missing or unusable, so that the list may have to be rebuilt from journals.
        /// Stays true at every opening until ``StoreChange/complete`` has been stored.
        package let isNew: Bool
        /// The path to which a damaged catalogue was moved; `nil` if it was not damaged.
        package let damaged: String?

        /// A message for the user; `nil` if there was no problem.
        package var note: String? {
            damaged.map { "the catalogue \(catalogue.path) was damaged; it has been moved to \($0)" }
        }
    }

    /// The file name of the database in its state directory.
    package static let fileName = "catalogue.sqlite"

    /// Opens or creates the catalogue in a state directory, and locks the directory.
    ///
    /// `directory`, absolute, is the state directory; created with mode 0700 if missing. Paths inside `downloads`,
    /// absolute, are stored relative to it. `report` receives errors of submitted batches and of entries that cannot
    /// be applied or read. Throws `catalogue` if the catalogue is open in another process or this one, was created by
    /// a newer Ferry, or is no catalogue; then no file has been changed. A damaged catalogue is renamed, with its
    /// companion files.
    package static func open(
        // allow(single-place): the list has a queue of its own.
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
