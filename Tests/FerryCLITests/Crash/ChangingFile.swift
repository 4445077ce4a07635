import FerryTesting
import Foundation
import Synchronization

/// A file on the server that changes to another version of equal length, different in every line of 64 bytes.
final class ChangingFile: Sendable {
    static let path = "/f.bin"

    private let server: OriginServer
    private let state: Mutex<[Resource]>

    init(_ first: Resource, on server: OriginServer) {
        self.server = server
        state = Mutex([first])
        server.serve(Self.path, first)
    }

    /// Every version so far, the newest last.
    var versions: [Resource] { state.withLock { $0 } }

    /// Starts a new version: later responses have it, running ones keep theirs.
    func change() {
        let next = state.withLock { versions in
            var next = versions[versions.count - 1]
            next.seed &+= 1_000_003
            if let etag = next.etag, !etag.hasPrefix("W/") {
                next.etag = "\"s\(next.seed)\""
                // Every second version keeps its date, as nodes of a CDN do for the same file.
                if versions.count % 2 == 0 { next.lastModified = next.lastModified?.addingTimeInterval(3600) }
            }
            versions.append(next)
            return next
        }
        server.serve(Self.path, next)
    }
}
