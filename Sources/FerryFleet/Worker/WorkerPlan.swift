import Ferry
import FerryCore

/// What `ferry work` was asked for.
struct WorkerPlan: Sendable {
    /// How the files are downloaded; its list is in the worker's state directory.
    var configuration: DownloadManager.Configuration
    /// The directory of files that are to be uploaded.
    var staging: String
    /// What all requests share. Each is one attempt: the worker makes the next one.
    var template: DownloadRequest
    /// What the database may ask for.
    var bounds: WorkerBounds
    /// The name in `ferry.worker`.
    var name: String
    /// The maximum number of failed attempts of a row in a row, without progress, that another one follows.
    var retries: Int
    /// How long leases are held after the last heartbeat.
    var lease: Duration
    /// The work that is taken ahead, as time at the worker's speed.
    var ahead: Duration
    var endsWhenDone: Bool
    /// Whether the exit code says nothing of rows that have failed.
    var allowsFailures: Bool
    /// Whether each failure is reported.
    var isVerbose: Bool

    var parallel: Int { configuration.maxConcurrentDownloads }
    /// The time between two heartbeats.
    var beatInterval: Duration { min(.seconds(10), lease / 3) }
    /// Nothing runs in the last part of a lease: the time that it takes to stop.
    var margin: Duration { min(.seconds(60), lease / 5) }

    /// The request of a row that is downloaded from `sources`.
    func request(of row: FleetRow, from sources: [DownloadURL]) -> DownloadRequest {
        var request = template
        (request.sources, request.destination) = (sources, row.request.destination)
        (request.checksum, request.uploadTo) = (row.request.checksum, row.request.uploadTo)
        if request.uploadTo != nil, case .file(let name) = request.destination {
            request.destination = .file(Paths.join(staging, name))
            // Requests to the store are repeated by the download itself.
            request.maxAttempts = retries
        } else {
            request.root = bounds.root
        }
        return request
    }
}
