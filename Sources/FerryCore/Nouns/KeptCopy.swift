/// The location for keeping a file that is replaced or deleted.
package struct KeptCopy: Sendable, Hashable, Codable {
    /// An absolute directory, below which no symbolic link is followed.
    package var directory: String
    /// The path below the directory.
    package var path: String

    package init(directory: String, path: String) { (self.directory, self.path) = (directory, path) }
}
