import FerryCore
import FerryTerminal

/// One address of a list, checked like a line of a list, because other programs may write to the database.
struct FleetRow: Sendable, Hashable {
    let key: RowKey
    let lease: Int64
    let request: DownloadRequest
    /// Why the row is not fetched; `nil` if it is. The request then only names the row in its result, as far as it is known.
    let problem: Reason?

    /// The index of the URL with which the next attempt begins.
    private var first = 0

    /// Its URLs in the order in which the next attempt requests them.
    var sources: [DownloadURL] { Array(request.sources[first...] + request.sources[..<first]) }

    /// The host of the URL that is requested next.
    var host: String { sources.first.map(Self.host) ?? "" }

    /// Lets the next attempt begin with the next URL.
    mutating func turn() { first = (first + 1) % max(1, request.sources.count) }

    /// The server that the row depends on; `nil` if it has mirrors.
    var server: Origin? { request.sources.count == 1 ? request.sources.first.map(Origin.init(of:)) : nil }

    /// Returns the host in the form that host budgets use. A trailing dot is removed, because the name with a dot refers to the
    /// same server.
    static func host(of url: DownloadURL) -> String {
        url.host.utf8.last == UInt8(ascii: ".") ? String(url.host.dropLast()) : url.host
    }

    init(_ lease: FleetLease, number: Int64, urls: String, checksum: String?, within bounds: WorkerBounds) {
        key = RowKey(batch: lease.batch.id, number: number)
        self.lease = lease.number
        do throws(TextError) {
            let (sources, digest) = try Self.parse(urls, checksum)
            let path = Self.path(in: lease.batch, number: number, sources[0])
            var request = DownloadRequest(
                sources: sources, destination: .file(Paths.join(lease.batch.directory, path)))
            if let prefix = lease.batch.prefix {
                request.uploadTo = prefix.appendingKey(path)
                // The file stays below the worker's own directory until it is uploaded.
                request.destination = .file("\(lease.batch.id)-\(number)")
            }
            request.checksum = digest
            (self.request, problem) = (request, bounds.problem(of: lease.batch, sources))
        } catch {
            var request = DownloadRequest(sources: [], destination: .directory(lease.batch.directory))
            request.uploadTo = lease.batch.prefix
            (self.request, problem) = (request, error.reason)
        }
    }

    /// The columns of a row for an entry of a list.
    static func columns(of entry: URLList.Entry) throws(TextError) -> (urls: String, checksum: String?) {
        guard entry.out == nil, entry.dir == nil else {
            throw TextError("out= and dir= are of no use here: the fleet names its files")
        }
        guard entry.headers.isEmpty else {
            throw TextError("header= is not stored in a database, as it may be a secret")
        }
        guard entry.columns == nil else { throw TextError("its columns are not stored in a database") }
        let urls = entry.urls.map(\.text).joined(separator: "\t")
        _ = try parse(urls, entry.checksum?.description)
        guard entry.urls.allSatisfy({ $0.credentials == nil }) else {
            throw TextError("the password of its URL is not stored in a database")
        }
        return (urls, entry.checksum?.description)
    }

    private static let mostBytes = 1 << 16

    private static func parse(_ urls: String, _ checksum: String?) throws(TextError) -> ([DownloadURL], Checksum?) {
        guard urls.utf8.count <= mostBytes else { throw TextError("its URLs are longer than 64 KiB") }
        guard urls.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else {
            throw TextError("it has control characters")
        }
        var list = URLList()
        list.append(urls.utf8)
        list.finish()
        guard case .entry(let entry)? = list.next(), entry.columns == nil else {
            throw TextError("it has no usable URL")
        }
        guard entry.urls.count <= DownloadRequest.mostSources, entry.urls.allSatisfy({ $0.credentials == nil }) else {
            throw TextError("it has no usable URL")
        }
        return (entry.urls, try checksum.map { text throws(TextError) in try Checksum(parsing: text) })
    }

    /// The path of a row's file below the batch's directory, `BATCH/MILLIONS/THOUSANDS/NUMBER-NAME`: the number makes the path
    /// unique to this row, even where case is ignored or a long name is shortened.
    static func path(in batch: FleetBatch, number: Int64, _ url: DownloadURL) -> String {
        let name = "\(number)-\(SafeName.make(nil, url: url, finalURL: nil))"
        let place = "\(batch.name)/\(number / 1_000_000)/\(number / 1000 % 1000)"
        return "\(place)/\(SafeName.sanitize(name) ?? "\(number)")"
    }
}
