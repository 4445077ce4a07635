package import Ferry
package import FerryAPI
package import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The known sessions with their download directories, launch commands and settings, in a file with mode 0600.
package final class SessionStore: Sendable {
    package struct Entry: Codable, Sendable, Hashable {
        /// `nil` for the daemon's directory.
        package var directory: String?
        /// Program and arguments; empty for none.
        package var launchCommand: [String] = []
        /// The session's own settings, within the limits of the daemon's settings.
        package var settings: SessionSettings?
        /// Other directories that contained downloads of the session, newest last. Searched if the catalogue is lost.
        package var places: [String]?
    }

    /// The maximum number of sessions.
    private static let mostSessions = 4096
    /// The maximum number of remembered directories per session.
    private static let mostPlaces = 256

    /// The maximum size of the file, in bytes.
    private static let mostBytes = 16 << 20

    private let file: PrivateFile
    private let entries: Mutex<[String: Entry]>
    private let changes = FileChanges()

    /// Reads the file. An unreadable file counts as empty and is renamed to `NAME.unreadable`.
    package init(_ path: String) {
        file = PrivateFile(path, most: Self.mostBytes)
        let text = file.read()
        let read = text.flatMap { try? JSONCoding.decode([String: Entry].self, from: Data($0.utf8)) }
        if read == nil { file.keepUnreadable() }
        entries = Mutex(read ?? [:])
    }

    package func entry(_ identifier: String) -> Entry? { entries.withLock { $0[identifier] } }

    /// All identifiers, `default` first, the others sorted.
    package var identifiers: [String] {
        let known = entries.withLock { Set($0.keys) }
        return [FerryAPI.defaultSession] + known.subtracting([FerryAPI.defaultSession]).sorted()
    }

    /// Adds a session, or changes the given members of a known session. Throws `disk`, or `invalidRequest` for invalid values.
    package func register(_ registration: SessionRegistration) async throws(DownloadError) {
        try Self.check(registration.identifier)
        if let directory = registration.directory, !directory.utf8.hasPrefix("/") {
            throw DownloadError(.invalidRequest, ErrorPhrase(.relativePath, ForeignText.quote(directory)))
        }
        if let command = registration.launchCommand {
            guard command.isEmpty || command[0].utf8.hasPrefix("/") else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.relativeCommand), suggestion: ErrorPhrase(.noShell),
                    recovery: .needsUser)
            }
            guard command.allSatisfy({ !$0.utf8.contains(0) }), command.reduce(0, { $0 + $1.utf8.count }) <= 65_536
            else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.unusableCommand))
            }
        }
        try await change(registration.identifier) { entry in
            if let directory = registration.directory { entry.directory = directory }
            if let command = registration.launchCommand { entry.launchCommand = command }
        }
    }

    /// Changes the session's own settings.
    package func changeSettings(
        of identifier: String, _ change: @escaping @Sendable (inout SessionSettings) -> Void
    ) async throws(DownloadError) {
        try await self.change(identifier) { entry in
            var settings = entry.settings ?? SessionSettings()
            change(&settings)
            entry.settings = settings == SessionSettings() ? nil : settings
        }
    }

    /// Records directories that downloads of a session use.
    package func note(_ directories: [String], of identifier: String) async throws(DownloadError) {
        try await change(identifier) { entry in
            var places = entry.places ?? []
            for directory in directories {
                let known = places + [entry.directory].compactMap(\.self)
                if !known.contains(where: { $0.hasSameBytes(as: directory) }) { places.append(directory) }
            }
            places.removeFirst(max(0, places.count - Self.mostPlaces))
            entry.places = places.isEmpty ? nil : places
        }
    }

    /// Returns all sessions with their download directories.
    package func hosted(default directory: String) -> HostedSessions {
        let known = entries.withLock { $0 }
        let places = known.values.flatMap { [$0.directory].compactMap(\.self) + ($0.places ?? []) }
        return HostedSessions(identifiers: Set(identifiers), directories: [directory] + places.sorted())
    }

    /// Returns the download directories of sessions, sorted; with `everUsed`, including their earlier directories.
    package func directories(everUsed: Bool) -> [String] {
        let known = entries.withLock { Array($0.values) }
        let all = known.flatMap { [$0.directory].compactMap(\.self) + (everUsed ? $0.places ?? [] : []) }
        return Set(all.map { FilePath($0) }).map(\.string).sorted()
    }

    private func change(
        _ identifier: String, _ change: @escaping @Sendable (inout Entry) -> Void
    ) async throws(DownloadError) {
        try await changes.run { () throws(DownloadError) in
            var new = self.entries.withLock { $0 }
            let old = new[identifier]
            var entry = old ?? Entry()
            change(&entry)
            // A new session is stored even if the change sets nothing.
            guard old != entry else { return }
            guard old != nil || new.count < Self.mostSessions else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.manySessions, "\(Self.mostSessions)"), recovery: .needsUser)
            }
            new[identifier] = entry
            let text: String
            do { text = String(decoding: try JSONCoding.encode(new), as: UTF8.self) } catch {
                throw DownloadError(.internal, "the sessions cannot be written", underlying: "\(error)")
            }
            try self.file.write(text)
            // Entries are written only here, and changes run one at a time.
            let written = new
            self.entries.withLock { $0 = written }
        }
    }

    /// Throws `invalidRequest` for a text that is not a valid session identifier.
    package static func check(_ identifier: String) throws(DownloadError) {
        let isPlain = identifier.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, !identifier.isEmpty, identifier.utf8.count <= 128, identifier.first != ".",
            identifier != FerryAPI.everySession
        else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableSession, ForeignText.quote(identifier)),
                suggestion: ErrorPhrase(.nameSessions),
                recovery: .needsUser)
        }
    }
}
