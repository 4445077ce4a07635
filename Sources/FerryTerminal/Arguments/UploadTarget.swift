import Ferry
package import FerryCore

/// The destination of `-d s3://BUCKET/PREFIX/` and `-o s3://BUCKET/KEY`: files stay in the staging directory until they
/// are complete, and are then uploaded to the store.
package struct UploadTarget: Sendable, Hashable {
    /// The object, or the prefix of objects, whose path ends with a slash.
    let object: DownloadURL
    /// The absolute path of the directory for part files.
    let staging: String

    /// Returns `nil` if files are not uploaded.
    init?(of files: FileOptions, _ world: PlanningWorld) throws(UsageError) {
        let isExact = files.output.map(Self.isObject) ?? false
        guard let text = isExact ? files.output : files.directory, Self.isObject(text) else {
            guard files.staging == nil else { throw UsageError("--staging needs -d s3://… or -o s3://…") }
            return nil
        }
        if !isExact, files.output != nil { throw UsageError("-o and -d s3://… cannot be used together") }
        if isExact, files.directory != nil { throw UsageError("-o s3://… and -d cannot be used together") }
        let url = try Self.place(text)
        if isExact, url.path.utf8.last == UInt8(ascii: "/") {
            throw UsageError("-o \(text) is not an object; -d adds files to a prefix")
        }
        object = isExact ? url : Self.prefix(url)
        staging = world.absolute(files.staging ?? StateDirectory.staging(world.environment))
    }

    /// Parses a prefix, and adds a trailing slash to its path if necessary. Returns `nil` if the text is not the URL of a store.
    package static func prefix(_ text: String) throws(UsageError) -> DownloadURL? {
        isObject(text) ? prefix(try place(text)) : nil
    }

    private static func prefix(_ url: DownloadURL) -> DownloadURL {
        url.path.utf8.last == UInt8(ascii: "/") ? url : url.appendingKey("/")
    }

    private static func place(_ text: String) throws(UsageError) -> DownloadURL {
        let url: DownloadURL
        do throws(DownloadError) { url = try DownloadURL(text) } catch { throw UsageError(error.reason) }
        guard url.query == nil, !url.path.utf8.hasPrefix("//") else {
            throw UsageError("\(text) is not a bucket or prefix")
        }
        return url
    }

    static func isObject(_ text: String) -> Bool {
        text.asciiLowercased.utf8.hasPrefix("\(DownloadURL.Scheme.s3.rawValue)://")
    }

    /// Returns the object for a file with this name and directory in its list. Without a name, returns the prefix, to
    /// which the file's own name is appended.
    func object(named name: String?, in directory: String? = nil) throws(UsageError) -> DownloadURL {
        guard name != nil || directory != nil else { return object }
        let path = directory.map { Paths.join($0, name ?? "") } ?? name ?? ""
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        let names = name == nil && parts.last?.isEmpty == true ? parts.dropLast() : parts[...]
        guard object.path.utf8.last == UInt8(ascii: "/"), !names.isEmpty,
            names.allSatisfy({ !$0.isEmpty && !$0.hasSameBytes(as: ".") && !$0.hasSameBytes(as: "..") })
        else { throw UsageError("\(TextError.quote(path)) is not a name below \(object.text)") }
        let whole = object.appendingKey(names.joined(separator: "/"))
        return name == nil ? whole.appendingKey("/") : whole
    }
}
