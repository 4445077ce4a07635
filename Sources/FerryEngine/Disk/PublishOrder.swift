package import FerryCore
package import SystemPackage

/// The name and metadata for a file to be published.
package struct PublishOrder: Sendable, Hashable {
    package var directory: FilePath
    /// The wanted name, one component.
    package var name: String
    package var rule: ConflictRule
    /// The length of the complete file.
    package var length: ByteCount
    /// The server's Last-Modified; `nil` keeps the time of the last write.
    package var modificationTime: FileTime?
    /// The content of `user.ferry.source`; `nil` for no attribute.
    package var source: FileSource?
    /// The published file to replace, under any rule, if it is unchanged at the wanted name; `nil` for none. Its
    /// path is absolute and normalized.
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
