package import FerryCore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where the daemon's Unix socket is, and whether it may be trusted.
package enum DaemonSocket {
    /// The path: `FERRY_SOCKET`, else `$XDG_RUNTIME_DIR/ferry/ferry.sock`, else `/tmp/ferry-UID/ferry.sock`.
    package static func path(
        environment: [String: String] = ProcessInfo.processInfo.environment, user: UInt32 = geteuid()
    ) -> String {
        if let given = environment["FERRY_SOCKET"], given.hasPrefix("/") { return given }
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            return runtime + "/ferry/ferry.sock"
        }
        return "/tmp/ferry-\(user)/ferry.sock"
    }

    /// Throws `daemonUnavailable` when somebody else could have put a socket of his own there: its directory must be
    /// this user's, no symbolic link, and closed to others. One that is not there yet is no danger.
    package static func check(_ path: String) throws(DownloadError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var status = stat()
        guard lstat(directory, &status) == 0 else { return }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        guard isDirectory, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw DownloadError(
                .daemonUnavailable, ErrorPhrase(.socketUnsafe, directory), recovery: .needsUser)
        }
    }
}
