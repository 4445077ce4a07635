package import FerryCore

/// Limits of one session in a list that hosts several; within the limits of the list.
package struct SessionSettings: Codable, Sendable, Hashable {
    /// Maximum number of the session's downloads that run at a time; `nil` for no limit of its own.
    package var maxConcurrentDownloads: Int?
    /// Maximum bytes per second over the session's downloads; `nil` for no limit of its own.
    package var rateLimit: ByteCount?
    /// Whether metered networks may be used; `nil` follows the manager.
    package var allowsMetered: Bool?
    /// Whether constrained networks may be used; `nil` follows the manager.
    package var allowsConstrained: Bool?

    package init() {}
}
