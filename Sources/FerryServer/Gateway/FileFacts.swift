#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The size of a file, and when it was written last. Foundation's attributes have the size as an integer of another type on
/// each system. Blocks.
struct FileFacts {
    let size: Int
    let date: Date

    /// `nil` if there is no file, or it cannot be inspected.
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
