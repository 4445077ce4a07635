import FerryEngine
package import SystemPackage

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Paths without symbolic links.
package enum RealPath {
    /// Normalizes `..` lexically, as the engine does, and resolves symbolic links in the part of the path that exists. Blocks.
    package static func of(_ path: FilePath) -> FilePath {
        var place = path.lexicallyNormalized()
        var missing: [FilePath.Component] = []
        while true {
            if let real = place.withPlatformString({ realpath($0, nil) }) {
                defer { free(real) }
                var found = FilePath(platformString: real)
                for component in missing.reversed() { found.append(component) }
                return found
            }
            guard let last = place.lastComponent, place.removeLastComponent(), !place.isEmpty else { return place }
            missing.append(last)
        }
    }

    /// Whether `place` is the directory or below it, through whichever links, mounts or letter case the paths lead there: existing
    /// directories are compared by device and inode. Neither path needs to exist. Blocks.
    package static func isPlace(_ place: String, in directory: String) -> Bool {
        func status(_ path: FilePath) -> FileStatus? {
            try? EngineProvider.fileSystem.status(path, followingLinks: true)
        }
        let (place, directory) = (of(FilePath(place)), of(FilePath(directory)))
        // The part of the directory that exists, and the names of the rest.
        var existing = directory
        while status(existing) == nil, existing.removeLastComponent() {}
        guard let identity = status(existing) else { return place.starts(with: directory) }
        var missing = directory
        _ = missing.removePrefix(existing)
        var ancestor = place
        repeat {
            var rest = place
            _ = rest.removePrefix(ancestor)
            if rest.starts(with: missing), status(ancestor)?.isSameFile(as: identity) == true { return true }
        } while ancestor.removeLastComponent()
        return false
    }
}
