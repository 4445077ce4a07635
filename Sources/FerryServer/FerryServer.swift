/// The daemon's faces: HTTP API, event stream, page, sign-in.
///
/// ```
/// lock the state directory ─► open the catalogue ─► bind the Unix socket and loopback TCP ─► serve
/// request ─► Door (Host, Origin, site, token or peer) ─► Routes ─► DownloadManager
/// DownloadManager ─► EventRing ─► one bounded stream for each client
/// SIGTERM, SIGINT ─► no new connections, streams end, checkpoints, sockets and lock go
/// ```
///
/// No download logic is here: everything goes through the façade. A crash leaves a socket of nobody, which the next
/// daemon replaces under the lock, and a catalogue that goes on.
package enum FerryServer {}
