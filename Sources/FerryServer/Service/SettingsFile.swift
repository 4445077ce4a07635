import FerryAPI
import FerryCore
import Foundation

/// The settings file, as the daemon writes into it what was changed through the API: the one place where settings are kept.
struct SettingsFile: Sendable {
    let path: String

    /// Writes the members that were changed, and leaves all others as they are; null takes one away.
    func merge(_ change: SettingsChange) throws(DownloadError) {
        do {
            let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data("{}".utf8)
            guard var object = (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any],
                let members = try JSONSerialization.jsonObject(with: APICoding.encode(change)) as? [String: Any]
            else { throw DownloadError(.disk, ErrorPhrase(.noJSONObject, path), suggestion: ErrorPhrase(.writeObject)) }
            for (name, value) in members { object[name] = value is NSNull ? nil : value }
            let text = try JSONSerialization.data(
                withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            try FileManager.default.createDirectory(
                atPath: Paths.parent(of: path), withIntermediateDirectories: true)
            try PrivateFile.write(String(decoding: text, as: UTF8.self) + "\n", to: path)
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.disk, ErrorPhrase(.unwrittenSettings, path), underlying: error.localizedDescription)
        }
    }
}
