import Ferry
import FerryAPI
package import FerryCore
import Foundation
package import Logging

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `ferry serve --confine`: how a daemon gives up the right to write elsewhere.
///
/// ```
/// first half     reads settings, sessions and list ─► starts what starts commands ─► Landlock ─► exec(2) of itself
/// second half    takes over the directories and the socket ─► makes sure that it is confined ─► serves
/// ```
///
/// Landlock holds for the thread that asks for it and for what that thread starts. exec(2) leaves that one thread over, so
/// that it holds for the whole process afterwards, whatever threads there were before.
package struct ConfinedStart: Sendable {
    private let place: DaemonPaths
    private let options: Daemon.Options

    package init(_ place: DaemonPaths, _ options: Daemon.Options) {
        self.place = place
        self.options = options
    }

    // MARK: The first half

    /// Begins the program anew, confined.
    ///
    /// Throws what keeps a daemon from its start, and `invalidRequest` where the kernel cannot confine it: nothing is
    /// served then.
    ///
    /// - Parameters:
    ///   - program: The absolute path of this program.
    ///   - arguments: The words to begin it with: what is told to it stands in the descriptor that they are made for.
    ///   - ready: Left open for the second half.
    package func begin(
        _ program: String, keeping ready: ReadyDescriptor?, arguments: (_ descriptor: Int32) -> [String]
    ) async throws(DownloadError) -> Never {
        guard let rights = LandlockRights(version: Landlock.version) else {
            throw Self.refused(ErrorPhrase(.noLandlock))
        }
        try PrivateFile.makeDirectory(place.state, forbidden: 0o022)
        // Until exec(2): no other daemon changes what is read here.
        let lock = try DaemonLock.take(place.lock)
        let plan = try await plan()
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

    private func plan() async throws(DownloadError) -> ConfinementPlan {
        // The second half says what is odd about them.
        let silent = Logger(label: "ferry") { _ in SwiftLogNoOpLogHandler() }
        let source = try await SettingsSource(
            file: place.settings, environment: options.environment, flags: options.flags,
            defaults: DaemonSettings(directory: place.downloads), logger: silent
        ) { _ in }
        let settings = try source.settings()
        let unfinished = UnfinishedDirectories.read(state: place.catalogue, downloads: settings.directory)
        // Without a list some may be unfinished wherever any went.
        let sessions = SessionStore(place.sessions).directories(everUsed: unfinished == nil)
        return ConfinementPlan(place, settings, sessions: sessions, unfinished: unfinished ?? [])
    }

    /// The real path of a directory, which is made where it is not there.
    private static func made(_ path: String) throws(DownloadError) -> String {
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.makeDirectory), path, "\(error)"))
        }
        guard let real = realpath(path, nil) else { throw PrivateFile.failure(.open, path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// What SQLite keeps in files for a moment goes where the daemon may write.
    private var environment: [String: String] {
        options.environment.merging(["SQLITE_TMPDIR": place.state]) { $1 }
    }

    /// Returns only when that fails: `errno`.
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

    // MARK: The second half

    /// Gives the options of a daemon what the first half has left in a descriptor.
    ///
    /// Throws `invalidRequest` when that holds nothing, or when the process is not confined.
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
