import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes and removes the host's manifests for the browsers of this user.
package struct BrowserInstaller: Sendable {
    private let program: String
    private let home: String
    private let environment: [String: String]

    /// The state of the host's manifest in a browser.
    package enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        /// The browser has never run for this user, and has no manifest.
        case absent
        case missing
        case installed
        /// The manifest is for a different program or version.
        case other
    }

    /// - Parameters:
    ///   - program: The absolute path of the binary that the browsers start.
    ///   - environment: Provides `HOME` and `XDG_CONFIG_HOME`.
    package init(program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment
        home = environment["HOME"].flatMap { Paths.isAbsolute($0) ? $0 : nil } ?? StateDirectory.homeDirectory
    }

    package func manifest(of browser: HostBrowser) -> String { browser.manifest(home: home, environment: environment) }

    package func status(of browser: HostBrowser) -> Status {
        if let data = FileManager.default.contents(atPath: manifest(of: browser)) {
            let found = try? JSONDecoder().decode(HostManifest.self, from: data)
            return found == HostManifest(program: program, for: browser) ? .installed : .other
        }
        let profiles = browser.profiles(home: home, environment: environment)
        return FileManager.default.fileExists(atPath: profiles) ? .missing : .absent
    }

    /// Writes the manifest, replacing an existing one. Throws `disk`, or `invalidRequest` if a manifest cannot contain the
    /// program's path.
    package func install(_ browser: HostBrowser) throws(DownloadError) {
        guard Paths.isAbsolute(program) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.relativePath, TextError.quote(program)))
        }
        let path = manifest(of: browser)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let data = try encoder.encode(HostManifest(program: program, for: browser)) + Data("\n".utf8)
            // The mode matches that of the browsers' own directories, which are private too.
            try FileManager.default.createDirectory(
                atPath: Paths.parent(of: path), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.write), path, "\(error)"))
        }
    }

    /// Removes the manifest. Returns false if there was none.
    package func uninstall(_ browser: HostBrowser) throws(DownloadError) -> Bool {
        let path = manifest(of: browser)
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw DownloadError(.disk, ErrorPhrase(.fileFailed, ErrorPhrase(.remove), path, "\(error)"))
        }
        return true
    }
}
