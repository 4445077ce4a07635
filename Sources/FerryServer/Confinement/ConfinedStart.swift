import Ferry
import FerryAPI
package import FerryCore
package import Logging
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The two halves of `ferry serve --confine`: the process restricts its own write access with Landlock, then serves.
///
/// ```
/// first half     read settings, sessions and list ─► start the starter process ─► Landlock ─► exec(2) itself
/// second half    take over directories and socket ─► verify the confinement ─► serve
/// ```
///
/// Landlock restricts the calling thread and its children. exec(2) ends all other threads, so the
/// restriction covers the whole process afterwards.
package struct ConfinedStart: Sendable {
    private let place: DaemonPaths
    private let options: Daemon.Options

    package init(_ place: DaemonPaths, _ options: Daemon.Options) {
        self.place = place
        self.options = options
    }

    // MARK: First half

    /// Confines this process, then executes the program again.
    ///
    /// Throws every error that prevents a daemon from starting, and `invalidRequest` if the kernel cannot confine the
    /// process. Nothing is served in that case.
    ///
    /// - Parameters:
    ///   - program: The absolute path of this program.
    ///   - arguments: The command line of the second half, given the descriptor of its ``ConfinementHandover``.
    ///   - ready: The descriptor that stays open for the second half.
    package func begin(
        _ program: String, keeping ready: ReadyDescriptor?, arguments: (_ descriptor: Int32) -> [String]
    ) throws(DownloadError) -> Never {
        guard let rights = LandlockRights(version: Landlock.version) else {
            throw Self.refused(ErrorPhrase(.noLandlock))
        }
        try PrivateFile.makeDirectory(place.state, forbidden: 0o022)
        // Held until exec(2), so that no other daemon changes the data that is read below.
        let lock = try DaemonLock.take(place.lock, socket: place.socket)
        let plan = try plan()
        var directories: [String] = []
        for path in plan.required {
            try PrivateFile.makeDirectory(path, forbidden: path == place.state ? 0o022 : 0o077)
            directories.append(try Self.made(path))
        }
        var leftOut: [String] = []
        for path in plan.others {
            do throws(DownloadError) { directories.append(try Self.made(path)) } catch { leftOut.append(path) }
        }
        let confinement = Confinement(directories: ConfinementPlan.roots(of: directories), gaps: rights.gaps)
        let starter = try StarterProcess.start(program)
        let descriptor = try ConfinementHandover(
            confinement: confinement, leftOut: leftOut, starter: starter.socket, starterProcess: starter.process
        ).write()
        do throws(Landlock.Failure) { try Landlock.restrict(to: confinement.directories, rights) } catch {
            let reason = (error.path.isEmpty ? "" : error.path + ": ") + String(cString: strerror(error.code))
            throw Self.refused(Reason(stringLiteral: reason))
        }
        for kept in [descriptor, starter.socket] { _ = fcntl(kept, F_SETFD, 0) }
        ready?.keep()
        let failure = Self.exec(program, arguments(descriptor), environment)
        withExtendedLifetime(lock) {}
        throw DownloadError(.internal, "the program cannot begin anew", underlying: String(cString: strerror(failure)))
    }

    private func plan() throws(DownloadError) -> ConfinementPlan {
        let source = try options.settings(at: place)
        let members = try source.file.read()
        let settings = try source.settings(with: members)
        let doors = try source.doorSettings(with: members)
        let unfinished = UnfinishedDirectories.read(state: place.catalogue)
        // Without a readable list, any directory that a session ever used may contain unfinished downloads.
        let sessions = SessionStore(place.sessions).directories(everUsed: unfinished == nil)
        return ConfinementPlan(
            place, settings, doors: doors.directories, sessions: sessions, unfinished: unfinished ?? [])
    }

    /// Returns the real path of a directory, creating the directory if necessary.
    private static func made(_ path: String) throws(DownloadError) -> String {
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.makeDirectory), path, "\(error)"))
        }
        guard let real = realpath(path, nil) else { throw PrivateFile.failure(.open, path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// The environment of the second half: SQLite creates its temporary files in the state directory, which is writable.
    private var environment: [String: String] {
        options.environment.merging(["SQLITE_TMPDIR": place.state]) { $1 }
    }

    /// Returns only if execve(2) fails, with `errno`.
    private static func exec(_ program: String, _ words: [String], _ variables: [String: String]) -> Int32 {
        let arguments = words.map { strdup($0) } + [nil]
        let environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        execve(program, arguments, environment)
        let failure = errno
        for word in arguments + environment { free(word) }
        return failure
    }

    private static func refused(_ why: any ReasonConvertible) -> DownloadError {
        DownloadError(
            .invalidRequest, ErrorPhrase(.cannotConfine, why), suggestion: ErrorPhrase(.startUnconfined),
            recovery: .needsUser)
    }

    // MARK: Second half

    /// Applies the handover that the first half left in `descriptor` to the daemon's options.
    ///
    /// Throws `invalidRequest` if the file contains no handover or the process is not confined.
    package static func takeOver(
        from descriptor: Int32, into options: inout Daemon.Options, logger: Logger
    ) throws(DownloadError) {
        guard let handover = ConfinementHandover.read(descriptor), Landlock.isInForce else {
            throw refused(ErrorPhrase(.confinementLost))
        }
        options.confinement = handover.confinement
        options.starter = RemoteStarter(socket: handover.starter, process: handover.starterProcess, logger: logger)
        logger.notice(
            "confined", metadata: ["directories": "\(handover.confinement.directories.joined(separator: ", "))"])
        if !handover.leftOut.isEmpty {
            logger.warning(
                "directories that cannot be made are left out",
                metadata: ["directories": "\(handover.leftOut.joined(separator: ", "))"])
        }
        if !handover.confinement.gaps.isEmpty {
            logger.warning(
                "this kernel does not hold everything",
                metadata: ["missing": "\(handover.confinement.gaps.map(\.rawValue).joined(separator: ", "))"])
        }
    }
}

/// The directories in which a confined daemon must be able to write, as known at its start. Pure.
struct ConfinementPlan: Sendable, Hashable {
    /// Private directories without which the daemon cannot start.
    var required: [String]
    /// Directories of settings and downloads. A directory that cannot be created is left out.
    var others: [String]

    /// - Parameters:
    ///   - doors: Directories of doors.
    ///   - sessions: Download directories of sessions.
    ///   - unfinished: Directories of unfinished downloads in the list.
    init(
        _ place: DaemonPaths, _ settings: DaemonSettings, doors: [String], sessions: [String], unfinished: [String]
    ) {
        required = [place.state, Self.parent(of: place.socket)]
        others =
            [Self.parent(of: place.settings), settings.directory] + doors + settings.allowedDirectories + sessions
            + unfinished
    }

    private static func parent(of path: String) -> String { FilePath(path).removingLastComponent().string }

    /// Returns the directories, sorted, without duplicates and without directories inside another one.
    static func roots(of directories: [String]) -> [String] {
        let all = Set(directories.map { FilePath($0) })
        return all.filter { path in
            var above = path
            while above.removeLastComponent() { if all.contains(above) { return false } }
            return true
        }.map(\.string).sorted()
    }
}
