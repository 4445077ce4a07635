import Ferry
import Foundation

/// The text of a file that is looked at again and again: read only when the file has been touched.
struct WatchedText: Sendable {
    private let path: String
    /// Of what was read; `nil` when nothing could be.
    private var stamp: FileStamp?
    /// What was in it when it was read last; `nil` without a file.
    private(set) var text: Data?

    init(_ path: String) {
        self.path = path
        _ = look()
    }

    /// Looks at the file. Returns whether another text is in it than before.
    mutating func look() -> Bool {
        // Before the text: what is written meanwhile is another stamp the next time.
        let stamp = FileStamp(path: path)
        guard stamp != self.stamp else { return false }
        let old = text
        text = FileManager.default.contents(atPath: path)
        // What is there and cannot be read is tried again.
        self.stamp = text == nil ? nil : stamp
        return text != old
    }
}
