package import FerryCore
import SystemPackage

extension PublicSuffixes {
    /// The list of the Debian package `publicsuffix`, which other distributions install at the same path.
    private static let path: FilePath = "/usr/share/publicsuffix/public_suffix_list.dat"

    /// Reads the system's list; `nil` if there is none.
    package static func system(_ fileSystem: any FileSystem) -> PublicSuffixes? {
        guard let file = try? fileSystem.open(path, .readOnly) else { return nil }
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) else { return nil }
        let list = PublicSuffixes(list: Array(bytes.prefix(count)))
        return list.hasList ? list : nil
    }
}
