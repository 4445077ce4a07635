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
    /// The path: `FERRY_SOCKET`, else a socket in the first of the directories that is this user's.
    ///
    /// The directories are `$XDG_RUNTIME_DIR/ferry`, `/tmp/ferry-UID` and `run` in the state directory. In the first two
    /// another user may have been quicker: such a directory is passed over, by the daemon and by its clients. A socket that
    /// is there goes before a directory that could be made, so that a client finds the daemon that runs.
    package static func path(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        home: String = StateDirectory.homeDirectory,
        user: UInt32 = geteuid()
    ) -> String {
        func absolute(_ name: String) -> String? { environment[name].flatMap { Paths.isAbsolute($0) ? $0 : nil } }
        if let given = absolute("FERRY_SOCKET") { return given }
        let state =
            absolute("FERRY_STATE_DIR") ?? (absolute("XDG_STATE_HOME") ?? home + "/.local/state") + "/ferry"
        let last = state + "/run"
        let directories =
            [absolute("XDG_RUNTIME_DIR").map { $0 + "/ferry" }, "/tmp/ferry-\(user)"].compactMap(\.self)
            .filter { isUsable($0, by: user) } + [last]
        let found = directories.first { access($0 + "/" + name, F_OK) == 0 }
        return (found ?? directories.first ?? last) + "/" + name
    }

    private static let name = "ferry.sock"

    /// Whether a directory is private to this user; or is not there, and nobody else could put another in its place or take
    /// it away once it is made: what it is in is this user's, or lets everybody remove his own alone, as `/tmp` does.
    private static func isUsable(_ directory: String, by user: UInt32) -> Bool {
        var status = stat()
        if lstat(directory, &status) == 0 {
            return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user && status.st_mode & 0o077 == 0
        }
        let failure = errno
        guard failure == ENOENT, stat(Paths.parent(of: directory), &status) == 0 else {
            return failure == ENOENT && errno == ENOENT
        }
        return status.st_uid == user || status.st_mode & mode_t(S_ISVTX) != 0
    }

    /// Throws `daemonUnavailable` when somebody else could have put a socket of his own there: its directory must be
    /// this user's, no symbolic link, and closed to others. One that is not there yet is no danger.
    package static func check(_ path: String) throws(DownloadError) {
        let directory = Paths.parent(of: path)
        var status = stat()
        guard lstat(directory, &status) == 0 else { return }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        guard isDirectory, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw DownloadError(
                .daemonUnavailable, ErrorPhrase(.socketUnsafe, directory), recovery: .needsUser)
        }
    }
}
