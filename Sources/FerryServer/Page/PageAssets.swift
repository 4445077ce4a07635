import Foundation

/// The files of the page, compiled in. Their paths are looked up as they are, so that no path leads anywhere else.
struct PageAssets: Sendable {
    struct Asset: Sendable {
        let type: String
        let bytes: [UInt8]
        /// Of its bytes, for If-None-Match.
        let tag: String
    }

    private let assets: [String: Asset]

    /// Path to bytes; every file of the folder Assets has its line here.
    static var files: [String: [UInt8]] {
        [
            "/index.html": PackageResources.index_html
        ]
    }

    init(_ files: [String: [UInt8]] = Self.files) {
        var assets: [String: Asset] = [:]
        for (path, bytes) in files {
            assets[path] = Asset(type: Self.type(of: path), bytes: bytes, tag: Self.tag(of: bytes))
        }
        assets["/"] = assets["/index.html"]
        self.assets = assets
    }

    /// The file at exactly this path; `nil` for every other.
    func asset(at path: Substring) -> Asset? { assets[String(path)] }

    private static func type(of path: String) -> String {
        switch path.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "json", "webmanifest": "application/json"
        default: "application/octet-stream"
        }
    }

    /// FNV-1a: tells versions apart, and proves nothing.
    private static func tag(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "\"\(String(hash, radix: 16))-\(bytes.count)\""
    }
}
