import FerryAPI
import FerryCore
import Foundation

/// The settings file: one JSON object, written by the user, and by the daemon when a client changes settings.
struct SettingsFile: Sendable {
    let path: String

    /// The members of the file; none where there is no file.
    ///
    /// Throws an error of this code for a file that cannot be read or is no JSON object.
    func read(orThrow code: DownloadError.Code = .invalidRequest) throws(DownloadError) -> [String: JSONValue] {
        func failure(_ phrase: ErrorPhrase.Key, _ underlying: String? = nil) -> DownloadError {
            DownloadError(
                code, ErrorPhrase(phrase, path), suggestion: ErrorPhrase(.writeObject), underlying: underlying,
                recovery: .needsUser)
        }
        let text: Data
        do { text = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            if (error as? CocoaError)?.code == .fileReadNoSuchFile { return [:] }
            throw failure(.unreadableSettings, error.localizedDescription)
        }
        guard let members = try? APICoding.decode([String: JSONValue].self, from: text) else {
            throw failure(.noJSONObject)
        }
        return members
    }

    /// Writes the members of a change and keeps all others; null removes a member.
    func merge(_ change: SettingsChange) throws(DownloadError) {
        var members = try read(orThrow: .disk)
        do {
            for (setting, value) in try [Setting: JSONValue](encoding: change) {
                members[setting.rawValue] = value == .null ? nil : value
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let text = String(decoding: try encoder.encode(members), as: UTF8.self)
            try FileManager.default.createDirectory(atPath: Paths.parent(of: path), withIntermediateDirectories: true)
            try PrivateFile.write(text + "\n", to: path)
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.disk, ErrorPhrase(.unwrittenSettings, path), underlying: error.localizedDescription)
        }
    }
}
