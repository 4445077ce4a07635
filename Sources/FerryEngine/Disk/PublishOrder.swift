package import FerryCore
package import SystemPackage

/// Under which name a file is to be published, and what it is to carry.
package struct PublishOrder: Sendable, Hashable {
    package var directory: FilePath
    /// The wanted name, one component.
    package var name: String
    package var rule: ConflictRule
    /// The length that the whole must have.
    package var length: ByteCount
    /// The server's Last-Modified; `nil` leaves the time of the last write.
    package var modificationTime: FileTime?
    /// What `user.ferry.source` is to say; `nil` for no attribute.
    package var source: FileSource?
    /// While the wanted name is that of this file, unchanged, it is replaced, whatever the rule; `nil` for none. Its path
    /// is absolute and normalized.
    package var replaces: PublishedFile?

    package init(
        directory: FilePath, name: String, rule: ConflictRule, length: ByteCount, modificationTime: FileTime? = nil,
        source: FileSource? = nil, replaces: PublishedFile? = nil
    ) {
        self.directory = directory
        self.name = name
        self.rule = rule
        self.length = length
        self.modificationTime = modificationTime
        self.source = source
        self.replaces = replaces
    }
}
