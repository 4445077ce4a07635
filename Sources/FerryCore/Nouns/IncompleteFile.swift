/// A file of a set that is missing or not current.
public struct IncompleteFile: Sendable, Hashable, Codable {
    /// The path below the directory of the set.
    public var path: String
    /// The reason why the file is incomplete; `nil` if it is unknown.
    public var error: DownloadError?

    public init(path: String, error: DownloadError?) { (self.path, self.error) = (path, error) }
}
