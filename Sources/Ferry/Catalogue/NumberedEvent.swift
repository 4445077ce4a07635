/// An event that ended a download, kept until the app has acknowledged it.
package struct NumberedEvent: Sendable, Hashable {
    /// Ascending in the order of the ends, never reused.
    package var number: Int64
    package var session: String
    package var event: DownloadEvent

    package init(number: Int64, session: String, event: DownloadEvent) {
        self.number = number
        self.session = session
        self.event = event
    }
}
