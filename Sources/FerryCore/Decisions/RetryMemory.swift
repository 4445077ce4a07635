/// What attempts without progress leave behind, carried from one run of a download to the next.
///
/// A run that ends at a back-off frees its slot; the next one goes on counting where it stopped.
package struct RetryMemory: Hashable, Sendable, Codable {
    /// Attempts that failed since there was progress.
    package var attempts = 0
    /// How often the host had no address at all.
    package var missingNames = 0
    /// How often the file was found changed.
    package var changes = 0
    /// The most bytes that were there of this file: less is no progress.
    package var mostBytes: ByteCount = 0

    package init() {}
}
