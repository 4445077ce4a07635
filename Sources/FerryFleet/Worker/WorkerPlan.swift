import Ferry
import FerryCore

/// The plan of `ferry work`, from its arguments.
struct WorkerPlan: Sendable {
    /// The configuration of the download manager, whose list is in the worker's state directory.
    var configuration: DownloadManager.Configuration
    /// The directory of files to upload.
    var staging: String
    /// The values that all requests share. Each request is one attempt; the worker makes further attempts.
    var template: DownloadRequest
    /// The limits for requests from the database.
    var bounds: WorkerBounds
    /// The name in `ferry.worker`.
    var name: String
    /// The maximum number of retries of a row after consecutive attempts without progress.
    var retries: Int
    /// How long leases are held after the last heartbeat.
    var lease: Duration
    /// The amount of work that is leased in advance, as time at the worker's speed.
    var ahead: Duration
    var endsWhenDone: Bool
    /// Whether failed rows do not affect the exit code.
    var allowsFailures: Bool
    /// Whether each failure is reported.
    var isVerbose: Bool

    var parallel: Int { configuration.maxConcurrentDownloads }
    /// The time between two heartbeats.
    var beatInterval: Duration { min(.seconds(10), lease / 3) }
    /// The last part of a lease, in which nothing runs, because stopping takes time.
    var margin: Duration { min(.seconds(60), lease / 5) }

    /// The request of a row that is downloaded from `sources`.
    func request(of row: FleetRow, from sources: [DownloadURL]) -> DownloadRequest {
        var request = template
        (request.sources, request.destination) = (sources, row.request.destination)
        (request.checksum, request.uploadTo) = (row.request.checksum, row.request.uploadTo)
        if request.uploadTo != nil, case .file(let name) = request.destination {
            request.destination = .file(Paths.join(staging, name))
            // Requests to the store are repeated by the download itself.
            request.maxRetries = retries
        } else {
            request.root = bounds.root
        }
        return request
    }
}
