/// A file that is about to get its final name. Stored before the rename, so that after a crash the file can be
/// distinguished from one that existed before.
package struct AnnouncedFile: Sendable, Hashable, Codable {
    /// The announced path, absolute.
    package var path: String
    package var stamp: FileStamp

    package init(path: String, stamp: FileStamp) {
        self.path = path
        self.stamp = stamp
    }
}
