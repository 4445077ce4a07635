/// The daemon: HTTP API, event stream, web page and sign-in.
///
/// ```
/// lock the state directory ─► open the catalogue ─► bind the Unix socket and loopback TCP ─► serve
/// request ─► AccessPolicy (Host, Origin, site, token) or PeerCheck ─► Routes ─► DownloadManager
/// DownloadManager ─► EventRing ─► one bounded stream for each client
/// SIGTERM, SIGINT ─► no new connections, streams end, checkpoints, sockets and lock are released
/// ```
///
/// Contains no download logic: everything goes through `DownloadManager`. A crash leaves a stale socket, which the next daemon
/// replaces under the lock, and a catalogue, with which the next daemon continues.
package enum FerryServer {}
