import FerryCore

/// The limits of the rate that the contents of uploads follow: that of the file, of its session, and over all downloads. What
/// is received and what is sent count together.
package struct UploadLimits: Sendable {
    private let own: Throttle
    private let shared: [Throttle]

    /// The most uploads that are expected to share a limit that is not of one file.
    private static let mostSharing: ByteCount = 256

    /// - Parameters:
    ///   - own: Of the file.
    ///   - session: `nil` for none.
    init(_ own: Throttle, _ session: Throttle?, _ environment: EngineEnvironment) {
        self.own = own
        shared = [session, environment.throttle].compactMap(\.self)
    }

    /// The speed in bytes per second that a request has at least under these limits; `nil` without one.
    var leastShare: ByteCount? {
        let parts = own.rate.map { $0 / ByteCount(ObjectWriter.parallelParts) }
        return ([parts] + shared.map { $0.rate.map { $0 / Self.mostSharing } }).compactMap(\.self).min()
    }

    /// Returns the content, of which each piece waits until it may be sent.
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
