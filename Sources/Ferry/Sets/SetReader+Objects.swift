import FerryCore
import FerryEngine
import NIOCore

/// The objects of a bucket whose keys have a common prefix, as ListObjectsV2 lists them.
extension SetReader {
    /// Adds the objects below `prefix`, page by page. Keys that end with `/` stand for directories.
    func list(_ prefix: DownloadURL, _ listing: inout SetListing) async throws(DownloadError) {
        guard prefix.query == nil, let bucket = DownloadURL(bucket: prefix.host, key: []) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.storeAnswered, "\(prefix)", "400"), recovery: .needsUser)
        }
        var start = prefix.objectKey
        if let last = start.last, last != UInt8(ascii: "/") { start.append(UInt8(ascii: "/")) }
        var token: String?
        // A list that goes round in circles has no end.
        var tokens: Set<Int> = []
        var (count, bytes) = (0, 0)
        let end = listingEnd
        for pageNumber in 1... {
            let page = try await page(
                of: bucket, prefix: String(decoding: start, as: UTF8.self), after: token, until: end)
            var entries: [SetEntry] = []
            for object in page.objects where object.key.starts(with: start) && object.key.last != UInt8(ascii: "/") {
                let path = String(decoding: object.key.dropFirst(start.count), as: UTF8.self)
                do throws(DownloadError) {
                    guard let url = DownloadURL(bucket: bucket.host, key: object.key) else { continue }
                    var entry = try SetEntry(
                        path: path, sources: [url], totalBytes: object.totalBytes, safeNames: options.safeNames)
                    guard options.filter.accepts(entry.path) else {
                        listing.note(entry.path)
                        listing.left += 1
                        continue
                    }
                    (entry.etag, entry.lastModified) = (object.etag, object.lastModified)
                    entries.append(entry)
                } catch { listing.problems.append(error.reason) }
                // What is kept of the object, as a file or as a problem.
                count += 1
                bytes += object.key.count
            }
            listing.add(entries, options.filter)
            guard let next = page.continuation else { return }
            guard tokens.insert(next.hashValue).inserted, pageNumber < limits.objectPages, count <= limits.entries,
                bytes <= limits.bytes
            else {
                listing.problems.append(.phrase(ErrorPhrase(.largeSet, "\(prefix)", "\(pageNumber)")))
                return
            }
            guard now() < end else { return listing.problems.append(late(prefix)) }
            token = next
        }
    }

    private func page(
        of bucket: DownloadURL, prefix: String, after token: String?, until end: Duration
    ) async throws(DownloadError) -> S3ListPage {
        var parameters = [(name: "list-type", value: "2"), ("encoding-type", "url"), ("prefix", prefix)]
        if let token { parameters.append(("continuation-token", token)) }
        let bytes = try await answer(to: bucket.with(query: parameters), until: end) { response throws(DownloadError) in
            let body = try await response.body.collect(upTo: S3ListPage.mostBytes)
            return Array(buffer: body)
        }
        return try await EngineProvider.files.run { _ throws(DownloadError) in
            do throws(TextError) { return try S3ListPage(parsing: bytes) } catch {
                throw DownloadError(.refused, ErrorPhrase(.failedWith, "\(bucket)", error.whole))
            }
        }
    }
}
