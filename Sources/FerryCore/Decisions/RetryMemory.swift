/// The retry state that is carried from one run of a download to the next.
///
/// A run that ends with a back-off frees its slot; the next run continues the count.
package struct RetryMemory: Hashable, Sendable, Codable {
    /// Failed attempts since the last progress.
    package var attempts = 0
    /// The number of times that the host name had no address.
    package var missingNames = 0
    /// The number of times that the file was found changed.
    package var changes = 0
    /// The maximum of bytes present for this file: only more than these count as progress.
    package var mostBytes: ByteCount = 0

    package init() {}
}
