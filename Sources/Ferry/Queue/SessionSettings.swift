package import FerryCore

/// What one session allows itself, where one list holds the downloads of several; under the limits of all.
package struct SessionSettings: Codable, Sendable, Hashable {
    /// Downloads of it that run at a time; `nil` for as many as there are slots.
    package var maxConcurrentDownloads: Int?
    /// Bytes per second over all of its downloads; `nil` for no limit of its own.
    package var rateLimit: ByteCount?
    /// Whether it may use networks where bytes cost money; `nil` follows the manager.
    package var allowsMetered: Bool?
    /// Whether it may use networks that are to be spared; `nil` follows the manager.
    package var allowsConstrained: Bool?

    package init() {}
}
