import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The possible paths of the daemon's program, in search order.
struct DaemonFinder: Sendable, Hashable {
    /// Absolute paths; the first existing program is used.
    var places: [String]

    /// A path named by the app or by `FERRY_BINARY` is the only candidate: no other program is started instead.
    /// Otherwise the candidates are `ferry` in the directory of the app's own program, then in those of `PATH`.
    init(given: String?, environment: [String: String], executable: String?, workingDirectory: String) {
        func absolute(_ path: String) -> String { Paths.join(workingDirectory, path) }
        if let named = given ?? environment["FERRY_BINARY"], !named.isEmpty {
            places = [absolute(named)]
            return
        }
        places = []
        if let executable, executable.utf8.contains("/") {
            places.append(Paths.join(Paths.parent(of: executable), "ferry"))
        }
        // Empty and relative parts of PATH would mean the working directory.
        for part in (environment["PATH"] ?? "").split(at: ":") where part.utf8.hasPrefix("/") {
            let place = String(part) + "/ferry"
            if !places.contains(place) { places.append(place) }
        }
    }

    /// Searches with the environment and paths of this process.
    init(given: String?) {
        self.init(
            given: given, environment: ProcessInfo.processInfo.environment, executable: ExecutablePath.own,
            workingDirectory: WorkingDirectory.path)
    }

    /// The first candidate that is executable. Throws `daemonUnavailable` with the candidates if there is none.
    func find(
        isProgram: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
    ) throws(DownloadError) -> String {
        if let found = places.first(where: isProgram) { return found }
        throw DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonNotFound, places.joined(separator: ", ")),
            suggestion: ErrorPhrase(.giveBinary), recovery: .needsUser)
    }
}

/// The session of a background manager, and the information for reaching the daemon.
struct DaemonAddress: Sendable, Hashable {
    /// The identifier of the session.
    var identifier: String
    /// The default directory for downloads, absolute; `nil` for the session's current directory, initially the user's
    /// Downloads.
    var directory: String?
    /// The daemon's program, absolute; `nil` to search for it.
    var binary: String?
    /// The command that the daemon runs when events are pending and no process of the session is connected; `nil`
    /// keeps the previous one, empty means none.
    var launchCommand: [String]?
    /// The daemon's socket; `nil` for the default path.
    var socket: String?
    /// The time for which calls wait for a lost daemon.
    var patience: Duration = .seconds(30)
}

/// The path of the daemon's Unix socket, and whether it can be trusted.
package enum DaemonSocket {
    /// The path, absolute: `FERRY_SOCKET`, otherwise a socket in the first directory that belongs to this user. A state directory
    /// given by an argument or by `FERRY_STATE_DIR` has its own socket, in its `run` directory, so that a command for one daemon
    /// does not reach another. Relative paths in these variables are below the working directory.
    ///
    /// The directories are `$XDG_RUNTIME_DIR/ferry`, `/tmp/ferry-UID` and `run` in the state directory. Another user may have
    /// created one of the first two; the daemon and its clients skip such a directory. An existing socket takes precedence over
    /// a directory that could be created. The socket named in the lock file of the state directory takes precedence over all
    /// others, so that a client without the daemon's variables, for example in a cron job or over ssh, finds the running
    /// daemon.
    package static func path(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        home: String = StateDirectory.homeDirectory,
        user: UInt32 = geteuid(), state given: String? = nil, workingDirectory: String = WorkingDirectory.path
    ) -> String {
        func named(_ name: String) -> String? { ChildEnvironment.place(name, in: environment, of: workingDirectory) }
        // The XDG Base Directory Specification requires that relative paths be ignored.
        func absolute(_ name: String) -> String? { environment[name].flatMap { Paths.isAbsolute($0) ? $0 : nil } }
        if given == nil, let socket = named("FERRY_SOCKET") { return socket }
        let own = given ?? named("FERRY_STATE_DIR")
        let state = own ?? (absolute("XDG_STATE_HOME") ?? StateDirectory.root(home: home)) + "/ferry"
        let last = state + "/run"
        let shared = own == nil ? [absolute("XDG_RUNTIME_DIR").map { $0 + "/ferry" }, "/tmp/ferry-\(user)"] : []
        let directories = shared.compactMap(\.self).filter { isUsable($0, by: user) } + [last]
        if let locked = lockedSocket(state, of: user), isUsable(Paths.parent(of: locked), by: user),
            access(locked, F_OK) == 0
        {
            return locked
        }
        let found = directories.first { access($0 + "/" + name, F_OK) == 0 }
        return (found ?? directories.first ?? last) + "/" + name
    }

    /// Returns the socket of the daemon that last locked the state directory: the second line of a regular file of this
    /// user.
    private static func lockedSocket(_ state: String, of user: UInt32) -> String? {
        // O_NONBLOCK: opening a FIFO must not wait for its writer.
        let descriptor = open(state + "/daemon.lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == user else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(at: "\n")
        return lines.count >= 2 && Paths.isAbsolute(String(lines[1])) ? String(lines[1]) : nil
    }

    private static let name = "ferry.sock"

    /// Whether a directory is private to this user. A missing directory qualifies if no other user could replace it
    /// once it is created: its parent is missing too, belongs to this user, or is sticky, as `/tmp` is.
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

    /// Throws `daemonUnavailable` if another user could have created the socket: its directory must belong to this user, must
    /// not be a symbolic link, and must not be writable by others. A missing directory is accepted.
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
