#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The size of a file, and the time of its last change. Foundation's attributes have a different integer type for the size on
/// each system. Blocks.
struct FileFacts {
    let size: Int
    let date: Date

    /// Returns `nil` if the file does not exist or cannot be inspected.
    init?(_ path: String) {
        guard let found = try? FileManager.default.attributesOfItem(atPath: path),
            let date = found[.modificationDate] as? Date, let size = Self.integer(found[.size])
        else { return nil }
        (self.size, self.date) = (size, date)
    }

    private static func integer(_ value: Any?) -> Int? {
        (value as? any BinaryInteger).flatMap { Int(exactly: $0) } ?? value as? Int
    }
}
