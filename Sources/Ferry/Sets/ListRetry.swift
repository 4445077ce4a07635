package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// A failed request for a part of a list, which is sent again after a delay.
package struct ListRetry: Sendable, Hashable {
    /// The URL of the part of the list.
    package let url: DownloadURL
    /// Why the last request failed.
    package let error: DownloadError
    /// The retry as an event of a download.
    package let event: LocalizedEvent
    /// When the request is sent again.
    package let until: Date
    /// Whether the delay has passed. Default false.
    package var isDue = false
}
