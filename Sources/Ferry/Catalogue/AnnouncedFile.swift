/// A small file that is about to get its name: written down before, so that a crash in between can be told from one
/// that came earlier.
package struct AnnouncedFile: Sendable, Hashable, Codable {
    /// The name that it is about to get, absolute.
    package var path: String
    package var stamp: FileStamp

    package init(path: String, stamp: FileStamp) {
        self.path = path
        self.stamp = stamp
    }
}
