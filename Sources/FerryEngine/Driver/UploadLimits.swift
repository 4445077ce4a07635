import FerryCore

/// The rate limits of the content of an upload: the limit of the file, that of its session, and that of all downloads.
/// Received and sent bytes count together.
package struct UploadLimits: Sendable {
    private let own: Throttle
    private let shared: [Throttle]

    /// The maximum number of uploads that are expected to share the limit of a session or of all downloads.
    private static let mostSharing: ByteCount = 256

    /// - Parameters:
    ///   - own: The limit of the file.
    ///   - session: `nil` for none.
    init(_ own: Throttle, _ session: Throttle?, _ environment: EngineEnvironment) {
        self.own = own
        shared = [session, environment.throttle].compactMap(\.self)
    }

    /// The minimum speed, in bytes per second, that each request can expect under these limits; `nil` if there is no limit.
    var leastShare: ByteCount? {
        let parts = own.rate.map { $0 / ByteCount(ObjectWriter.parallelParts) }
        return ([parts] + shared.map { $0.rate.map { $0 / Self.mostSharing } }).compactMap(\.self).min()
    }

    /// Returns the same content, of which each piece is read only when the limits allow it to be sent.
    func paced(_ content: UploadContent) -> UploadContent {
        let all = [own] + shared
        let piece = all.compactMap(\.preferredPiece).min().map(ByteCount.init) ?? content.pieceBytes
        return UploadContent(
            length: content.length, sha256: content.sha256, pieceBytes: min(piece, content.pieceBytes)
        ) { range in
            for throttle in all { await throttle.passed(range.upperBound - range.lowerBound) }
            return try await content.read(range)
        }
    }
}
