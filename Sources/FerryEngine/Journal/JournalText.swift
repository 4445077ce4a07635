package import FerryCore
import Foundation
package import SystemPackage

/// The text form of a record: JSON with sorted keys, one top-level key per line.
package enum JournalText {
    package static func bytes(_ record: JournalRecord, path: FilePath) throws(JournalError) -> [UInt8] {
        if let problem = record.problem { throw .invalid(path, problem) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return onLines(Array(try encoder.encode(record)))
        } catch {
            throw .invalid(path, "\(error)")
        }
    }

    /// Parses a record with a valid checksum; throws if the record breaks the rules.
    package static func record(_ bytes: [UInt8], path: FilePath) throws(JournalError) -> JournalRecord {
        var record: JournalRecord
        do {
            record = try JSONDecoder().decode(JournalRecord.self, from: Data(bytes))
        } catch {
            throw .torn(path)
        }
        if record.version > JournalRecord.currentVersion { throw .newerVersion(path, record.version) }
        guard record.problem == nil else { throw .torn(path) }
        // No writer produces more URLs, and a directory's index holds the URLs of all its journals.
        record.urls = Array(record.urls.prefix(DownloadRequest.mostSources))
        return record
    }

    /// Inserts line breaks after the commas of the top-level object.
    private static func onLines(_ json: [UInt8]) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(json.count + 64)
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                lines.append(byte)
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                lines.append(byte)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                lines.append(byte)
                if depth == 1 { lines.append(UInt8(ascii: "\n")) }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 1 { lines.append(UInt8(ascii: "\n")) }
                depth -= 1
                lines.append(byte)
            case UInt8(ascii: ",") where depth == 1:
                lines += [byte, UInt8(ascii: "\n")]
            default:
                lines.append(byte)
            }
        }
        return lines
    }
}
