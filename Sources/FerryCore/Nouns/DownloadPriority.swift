/// Queue priority: higher priorities run first; equal ones run in the order in which they joined.
///
/// Shape: any integer; default ``normal``, 0.
public struct DownloadPriority: RawRepresentable, Sendable, Hashable, Comparable, Codable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// -1.
    public static let low = DownloadPriority(rawValue: -1)
    /// 0.
    public static let normal = DownloadPriority(rawValue: 0)
    /// 1.
    public static let high = DownloadPriority(rawValue: 1)

    public static func < (left: DownloadPriority, right: DownloadPriority) -> Bool { left.rawValue < right.rawValue }
}
