import FerryCore
import NIOCore

/// Looks up the digest of a file in the checksum list that its request names.
struct ChecksumListing: Sendable {
    private static let maxBytes = 4 << 20
    private let request: DownloadRequest
    private let environment: EngineEnvironment
    private let settings: DriverSettings

    init(_ request: DownloadRequest, _ environment: EngineEnvironment, _ settings: DriverSettings) {
        self.request = request
        self.environment = environment
        self.settings = settings
    }

    /// An entry of the list.
    struct Found: Sendable {
        let checksum: Checksum
        let list: DownloadURL
        /// The length of the list in bytes.
        let receivedBytes: ByteCount
    }

    /// Returns the entry of the first of `names` that the list contains; `nil` if the request names no list, or the digest is
    /// already known.
    func find(
        _ names: @autoclosure () -> [String], unless digest: ExpectedDigest
    ) async throws(DownloadError) -> Found? {
        guard let list = request.checksumList, digest.requested == nil else { return nil }
        return try await find(names(), in: list)
    }

    /// A separate function, because its stack frame is large and most downloads have no list.
    @inline(never)
    private func find(_ names: [String], in list: DownloadURL) async throws(DownloadError) -> Found {
        let request = TransferRequest(of: request, from: list, headLimit: settings.stallTimeout)
        let status: Int
        var bytes: [UInt8] = []
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(request)
            status = response.head.status
            if status == 200 {
                let limits = ShortBody.Limits(bytes: Self.maxBytes, idle: settings.stallTimeout)
                let content = try await ShortBody(response.body).collect(limits, clock: environment.clock)
                bytes = Array(content.bytes.readableBytesView)
            }
        } catch { throw DownloadError(error) }
        guard status == 200 else {
            throw DownloadError(.refused, ErrorPhrase(.unusableList, "\(list)", "\(status)"))
        }
        let digests = ChecksumList(String(decoding: bytes, as: UTF8.self))
        guard let checksum = names.lazy.compactMap({ digests.checksum(for: $0) }).first else {
            throw DownloadError(.checksum, ErrorPhrase(.notInChecksumList, "\(list)", names.first ?? ""))
        }
        return Found(checksum: checksum, list: list, receivedBytes: ByteCount(bytes.count))
    }
}
