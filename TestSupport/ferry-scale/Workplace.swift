import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// The working directory of a command: the catalogue is below `state/`, downloads are below `files/`.
struct Workplace: ParsableArguments {
    @Option(help: "Where the catalogue and the files go; made when it is missing.") var directory: String

    private var root: URL { URL(fileURLWithPath: directory, isDirectory: true) }
    var files: URL { root.appendingPathComponent("files", isDirectory: true) }
    var state: URL { root.appendingPathComponent("state", isDirectory: true) }

    /// Returns a manager for the catalogue, which is not open yet.
    func manager(_ change: (inout DownloadManager.Configuration) -> Void = { _ in }) throws -> DownloadManager {
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        var configuration = DownloadManager.Configuration.default(
            identifier: "scale", directory: files.path, stateDirectory: state.path)
        change(&configuration)
        return DownloadManager(configuration)
    }

    /// Returns requests for different URLs, to be saved below `files/`; `{}` in the pattern stands for the number.
    func requests(
        _ count: Int, from pattern: String, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> [DownloadRequest] {
        try (0..<count).map { number in
            let digits = String(number)
            let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
            let url = try DownloadURL(pattern.replacingOccurrences(of: "{}", with: padded))
            var request = DownloadRequest(sources: [url], destination: .directory(files.path))
            change(&request)
            return request
        }
    }

    /// The size of the catalogue's files in bytes.
    var catalogueBytes: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
        return names.reduce(0) { sum, name in
            let values = try? state.appendingPathComponent(name).resourceValues(forKeys: [.fileSizeKey])
            return sum + (values?.fileSize ?? 0)
        }
    }
}

extension ByteCount {
    /// Parses `1000000`, `500K`, `8M` or `2G`.
    static func parse(_ text: String) throws -> ByteCount {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors: [String: ByteCount] = ["": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000]
        guard let number = ByteCount(digits), let factor = factors[text.dropFirst(digits.count).lowercased()] else {
            throw ValidationError("not a size: \(text)")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, product > 0 else { throw ValidationError("not a size: \(text)") }
        return product
    }
}
