import CFerryAssets
import FerryCore
import Foundation

/// The page's files, compiled into the binary. Exact lookup by path rules out path traversal.
struct PageAssets: Sendable {
    struct Asset: Sendable {
        let type: String
        let bytes: [UInt8]
        /// The entity tag of the bytes, for If-None-Match.
        let tag: String
    }

    private let assets: [String: Asset]

    /// The bytes of each file by path; every file in the folder Assets has an entry in CFerryAssets.c.
    static var files: [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for file in UnsafeBufferPointer(start: ferry_page_assets, count: ferry_page_asset_count) {
            files[String(cString: file.path)] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        }
        return files
    }

    init(_ files: [String: [UInt8]] = Self.files) {
        var assets: [String: Asset] = [:]
        for (path, bytes) in files {
            assets[path] = Asset(type: Self.type(of: path), bytes: bytes, tag: Self.tag(of: bytes))
        }
        assets["/"] = assets["/index.html"]
        self.assets = assets
    }

    /// Returns the file at exactly this path; `nil` if there is none.
    func asset(at path: Substring) -> Asset? { assets[String(path)] }

    private static func type(of path: String) -> String {
        switch path.split(at: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "json", "webmanifest": "application/json"
        default: "application/octet-stream"
        }
    }

    /// Returns an entity tag from FNV-1a: it distinguishes versions and is not cryptographic.
    private static func tag(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\"\(String(hash, radix: 16))-\(bytes.count)\""
    }
}
