import Ferry
import FerryAPI
import FerryCore
import Foundation

extension Program {
    /// Runs `ferry doctor`, which changes nothing.
    ///
    /// - Parameters:
    ///   - state: The default state directory.
    ///   - downloads: The download directory to check if no daemon reports another one.
    ///   - settings: The check of the daemon's settings.
    package static func doctor(
        state: String, downloads: String, settings check: DoctorCheck, json: Bool
    ) async -> ExitCode {
        let environment = ProcessInfo.processInfo.environment
        let found = await daemon()
        var (directory, proxy) = (downloads, String?.none)
        if case .answers(let greeting) = found.0, greeting.api == FerryAPI.version,
            let settings = try? await found.1.ask(.settings, as: SettingsBody.self)
        {
            (directory, proxy) = (settings.directory, settings.proxy)
        }
        let run = Paths.parent(of: found.1.socket)
        let checks = [
            DoctorPolicy.openFiles(OpenFileLimit.current),
            DoctorPolicy.downloads(directory, look(directory)),
            DoctorPolicy.state(state, look(state)), check,
            DoctorPolicy.socket(run, look(run)),
            DoctorPolicy.daemon(found.1.socket, found.0, version: version), DoctorPolicy.confinement(found.0),
            DoctorPolicy.proxy(environment, daemon: proxy),
            DoctorPolicy.certificates(
                DoctorPolicy.authorities.first { FileManager.default.isReadableFile(atPath: $0) }),
        ]
        let report = DoctorReport(checks.compactMap(\.self))
        let console = Console(StandardWriter())
        if json {
            console.result(JSONLine.of(report).text + "\n")
        } else {
            for line in report.lines { console.result(line + "\n") }
        }
        await console.drained()
        return report.exitCode
    }

    private static func daemon() async -> (DoctorPolicy.Found, DaemonLink) {
        let link = DaemonLink()
        do throws(DownloadError) { try DaemonSocket.check(link.socket) } catch { return (.failure(error), link) }
        do throws(DaemonFailure) { return (.answers(try await link.greet()), link) } catch {
            if case .unreachable = error { return (.silent, link) }
            return (.failure(error.error(socket: link.socket)), link)
        }
    }

    private static func look(_ path: String) -> DoctorPolicy.Directory {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return DoctorPolicy.Directory(isThere: false, isWritable: canMake(path), isOpen: false, freeBytes: nil)
        }
        let free = try? FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? NSNumber
        return DoctorPolicy.Directory(
            isThere: true, isWritable: access(path, W_OK | X_OK) == 0, isOpen: status.st_mode & 0o022 != 0,
            freeBytes: free?.int64Value)
    }

    /// Whether a missing directory can be created in its nearest existing ancestor.
    private static func canMake(_ path: String) -> Bool {
        var status = stat()
        // The path exists and is not a directory.
        if lstat(path, &status) == 0 { return false }
        var above = Paths.parent(of: path)
        while stat(above, &status) != 0 {
            let next = Paths.parent(of: above)
            if next == above { return false }
            above = next
        }
        guard status.st_mode & S_IFMT == S_IFDIR, access(above, W_OK | X_OK) == 0 else { return false }
        // Access checks always succeed for root, but a pseudo file system without any space, such as /proc, is not
        // writable.
        let room = try? FileManager.default.attributesOfFileSystem(forPath: above)[.systemSize] as? NSNumber
        return room.map { $0.int64Value > 0 } ?? true
    }
}
