package import FerryCore
import FerryEngine
package import HTTPTypes
package import NIOCore

/// A single request whose response a program passes on to its client: not a download, not stored, not retried.
package struct UpstreamRequest: Sendable {
    package var url: DownloadURL
    package var method = HTTPRequest.Method.get
    /// The header fields of the client. Secret fields are sent only to the origin of ``url``, and never after a redirect to
    /// another origin.
    package var headers = HTTPFields()
    /// Header fields that replace those of the client.
    package var own = HTTPFields()
    package var content: ByteBuffer?
    /// Whether redirects are followed; otherwise they are returned as responses.
    package var followsRedirects = true
    /// Whether to connect to private addresses, if the manager permits it too.
    package var allowsPrivate = false

    package init(_ url: DownloadURL) { self.url = url }
}

/// The response to an ``UpstreamRequest``.
package struct UpstreamResponse: Sendable {
    package var head: ResponseHead
    /// The URL of the response, after all redirects.
    package var url: DownloadURL
    package var body: UpstreamBody
}

/// The bytes of a response, for a single consumer. Bytes are read from the connection only on demand; releasing the body before
/// its end closes the connection.
package struct UpstreamBody: Sendable {
    private let body: ShortBody
    private let clock: any EngineClock

    init(_ body: sending TransferBody, clock: any EngineClock) { (self.body, self.clock) = (ShortBody(body), clock) }

    /// Whether the end of the connection ends the body. Then nothing distinguishes a body that was cut short from a whole one.
    var endsWithConnection: Bool { body.endsWithConnection }

    /// The next bytes, never empty; `nil` at the declared end.
    package func next() async throws(DownloadError) -> ByteBuffer? {
        // allow(body): the body is passed on to a client while it arrives.
        do throws(TransferFailure) { return try await body.next() } catch { throw DownloadError(error) }
    }

    /// Returns all bytes. Throws `tooLarge` if there are more than `most` bytes, and `network` if they take longer than
    /// ``ShortBody/Limits`` permits.
    package func collect(upTo most: Int) async throws(DownloadError) -> ByteBuffer {
        let content: ShortBody.Content
        do throws(TransferFailure) {
            content = try await body.collect(ShortBody.Limits(bytes: most), clock: clock)
        } catch { throw DownloadError(error) }
        guard content.isWhole else {
            throw DownloadError(.tooLarge, ErrorPhrase(.largeAnswer, "\(most >> 20) MiB"))
        }
        return content.bytes
    }

    /// Passes the bytes to `take` piece by piece, until `take` returns false or the bytes exceed `most`. Returns whether all bytes
    /// were passed on. Throws `network` if the bytes take longer than ``ShortBody/Limits`` permits.
    func read(
        upTo most: Int, _ take: @escaping @Sendable (ByteBuffer) async -> Bool
    ) async throws(DownloadError) -> Bool {
        do throws(TransferFailure) {
            return try await body.read(ShortBody.Limits(bytes: most), clock: clock, take)
        } catch { throw DownloadError(error) }
    }
}

extension DownloadManager {
    /// Sends a request in the same way as for a download: with the manager's proxies, certificates, time limits and rules for
    /// addresses.
    ///
    /// Returns when the response head has arrived, whatever its status. Throws `network`, `certificate` and similar errors.
    package func exchange(_ request: UpstreamRequest) async throws(DownloadError) -> UpstreamResponse {
        guard let scheduler else { throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere)) }
        var outgoing = TransferRequest(
            url: request.url, fields: request.own, userFields: request.headers,
            headLimit: scheduler.configuration.stallTimeout)
        outgoing.method = request.method
        outgoing.content = request.content
        outgoing.followsRedirects = request.followsRedirects
        outgoing.allowsPrivate = request.allowsPrivate
        return try await response(to: outgoing, scheduler)
    }

    /// Requests a list of files on behalf of the user, with the header fields, credentials and rules of a download request. Returns
    /// when the response head has arrived, whatever its status.
    func fetch(_ url: DownloadURL, for request: DownloadRequest) async throws(DownloadError) -> UpstreamResponse {
        guard let scheduler else { throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere)) }
        let limit = scheduler.configuration.driverSettings.with(request).stallTimeout
        return try await response(to: TransferRequest(of: request, from: url, headLimit: limit), scheduler)
    }

    private func response(
        to outgoing: TransferRequest, _ scheduler: Scheduler
    ) async throws(DownloadError) -> UpstreamResponse {
        do throws(TransferFailure) {
            let response = try await scheduler.environment.transport.fetch(outgoing)
            let (head, url) = (response.head, response.url)
            return UpstreamResponse(head: head, url: url, body: UpstreamBody(response.body, clock: scheduler.clock))
        } catch { throw DownloadError(error) }
    }

    /// Whether a host is an address of this machine or its network, or a name for such an address; `nil` if the name currently
    /// has no address.
    package static func isPrivate(_ host: String) async -> Bool? {
        if PrivateAddress.kind(ofHost: host) != nil { return true }
        if IPAddress(host) != nil { return false }
        let addresses = await HostNames.shared.addresses(of: host)
        return addresses.isEmpty ? nil : addresses.contains { PrivateAddress.kind(of: $0) != nil }
    }
}
