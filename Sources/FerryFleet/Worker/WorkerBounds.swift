import FerryCore
import FerryTerminal

/// The limits that a worker's user sets for the database, because other programs may write to it: the places of files, and their
/// sources. A row outside these limits is refused.
struct WorkerBounds: Sendable, Hashable {
    /// The place of the files.
    enum Place: Sendable, Hashable {
        /// A directory of this machine, without `.` and `..`.
        case directory(String)
        /// A prefix of objects, whose path ends with a slash.
        case objects(DownloadURL)
    }

    var place: Place
    /// Whether rows may be objects of stores, which are requested with the worker's keys.
    var allowsObjects = false

    /// The directory below which files are written without following symbolic links. The database chooses the path, in
    /// which a link could lead elsewhere. `nil` if any directory is allowed, and for objects.
    var root: String? {
        guard case .directory(let directory) = place, directory != "/" else { return nil }
        return directory
    }

    /// Returns why a row is not fetched here; `nil` if it is.
    func problem(of batch: FleetBatch, _ sources: [DownloadURL]) -> Reason? {
        guard holds(batch) else {
            return "\(batch.directory) is not below the directory or prefix that ferry work may use: give it --into"
        }
        guard allowsObjects || !sources.contains(where: \.isObject) else {
            return "it is an object of a store: give ferry work --allow-s3-sources"
        }
        return nil
    }

    private func holds(_ batch: FleetBatch) -> Bool {
        let parts = batch.directory.split(at: "/").map(String.init)
        switch place {
        case .directory(let directory):
            let allowed = directory.split(at: "/").map(String.init)
            return batch.prefix == nil && parts.starts(with: allowed) { $0.utf8.elementsEqual($1.utf8) }
        case .objects(let prefix):
            return batch.prefix.map { $0.text.utf8.hasPrefix(prefix.text) } ?? false
                && !parts.contains { $0.utf8.elementsEqual("..".utf8) }
        }
    }
}

extension WorkerBounds {
    /// - Parameter into: The value of `--into`.
    init(into: String, allowsObjects: Bool) throws(UsageError) {
        if let prefix = try UploadTarget.prefix(into) {
            self.init(place: .objects(prefix), allowsObjects: allowsObjects)
        } else {
            self.init(place: .directory(OwnProgram.plain(into)), allowsObjects: allowsObjects)
        }
    }
}
