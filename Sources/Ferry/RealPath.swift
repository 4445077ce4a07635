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
}
