package import FerryCore
package import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        // Ferry never writes more URLs. The limit bounds the index of a directory, which contains the URLs of all its journals.
        record.urls = Array(record.urls.prefix(DownloadRequest.mostSources))
        record.nameVolumes(by: LocalFileSystem.volume(recordedAs:))
        return record
    }

    /// Inserts line breaks after the commas of the top-level object.
    private static func onLines(_ json: [UInt8]) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(json.count + 64)
        var depth = 0
        var strings = JSONStrings()
        for byte in json {
            guard strings.isOutside(byte) else {
                lines.append(byte)
                continue
            }
            switch byte {
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

extension JournalRecord {
    /// Converts the volume numbers of its files to the current ones.
    mutating func nameVolumes(by name: (UInt64) -> UInt64) {
        partDevice = name(partDevice)
        if let device = publishing?.device { publishing?.device = name(device) }
        if let device = moving?.device { moving?.device = name(device) }
        if let device = replaces?.device { replaces?.device = name(device) }
    }

    /// The rule that this record violates; `nil` if it is valid. Checked before writing and after reading.
    var problem: String? {
        guard version >= 1 else { return "version \(version)" }
        guard DownloadID(rawValue: id).isOneLine else { return "an id of several lines" }
        guard Self.isBareName(name) else { return "the name is not a bare name" }
        for name in [name, publishing?.name].compactMap(\.self) where ReservedName.record(name) != nil {
            return "the name is that of a record"
        }
        if let totalBytes, !totalBytes.isSize { return "an impossible total" }
        if let length = identity.totalBytes, !length.isSize { return "an impossible length" }
        if let publishing {
            guard Self.isBareName(publishing.name) else { return "the announced name is not a bare name" }
            guard publishing.length.isSize else { return "an impossible announced length" }
        }
        if let upload {
            guard (try? DownloadURL(upload.object))?.isObject == true else { return "an invalid object URL" }
            guard upload.id.map(JournalRecord.Upload.isIdentifier) ?? true else {
                return "an invalid upload identifier"
            }
        }
        for path in [moving?.part, movedFrom].compactMap(\.self)
        where !path.utf8.hasPrefix("/") || !path.utf8.hasSuffix(DownloadPaths.partSuffix) || path.utf8.contains(0) {
            return "an invalid path to move to"
        }
        guard createdAt.isFinite, events.allSatisfy({ $0.time.isFinite }) else { return "an invalid time" }
        return claimProblem
    }

    /// Claims must be half-open, ascending, not adjacent, and within the total length.
    private var claimProblem: String? {
        var end: ByteCount = -1
        for claim in claimed {
            guard claim.count == 2 else { return "a claim that is not two numbers" }
            guard claim[0] >= 0, claim[0] < claim[1] else { return "an empty claim" }
            guard claim[0] > end else { return "claims that touch or are not in order" }
            end = claim[1]
        }
        guard end < .bound else { return "a claim beyond any file" }
        if let totalBytes, end > totalBytes { return "a claim beyond the end" }
        return nil
    }

    private static func isBareName(_ name: String) -> Bool { DownloadPaths.isBareName(name) }
}
