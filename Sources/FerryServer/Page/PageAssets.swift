import CFerryAssets
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The served forms of the page's files, which are compiled into the binary: the modules as two scripts, the style sheets as one
/// file. Exact lookup by path rules out path traversal.
struct PageAssets: Sendable {
    struct Asset: Sendable {
        let type: String
        let plain: Form
        /// The gzip form; `nil` if it is not smaller.
        let compressed: Form?
    }

    /// A representation of a file.
    struct Form: Sendable {
        let bytes: [UInt8]
        /// The entity tag of the bytes, for If-None-Match.
        let tag: String

        init(_ bytes: [UInt8]) { (self.bytes, tag) = (bytes, PageAssets.tag(of: bytes)) }
    }

    /// The assets of this program, created when the page is first opened.
    static let own = PageAssets(files)

    /// The style sheets, in the order of the cascade.
    private static let styles = ["/base.css", "/controls.css", "/frame.css", "/list.css", "/detail.css"]

    private let assets: [String: Asset]

    /// The bytes of each file by path; every file in the folder Assets has an entry in CFerryAssets.c.
    static var files: [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for file in UnsafeBufferPointer(start: ferry_page_assets, count: ferry_page_asset_count) {
            files[String(cString: file.path)] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        }
        return files
    }

    init(_ files: [String: [UInt8]]) {
        var served = files.filter { path, _ in !path.utf8.hasSuffix(".js") && !path.utf8.hasSuffix(".css") }
        served.merge(PageBundle.scripts(files, from: "main.js")) { $1 }
        served["/page.css"] = PageBundle.styles(Self.styles.map { files[$0] ?? [] })
        var assets: [String: Asset] = [:]
        for (path, bytes) in served {
            assets[path] = Asset(
                type: Self.type(of: path), plain: Form(bytes),
                compressed: ContentCoding.gzip(bytes, effort: 9).map { Form($0) })
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

    private static func tag(of bytes: [UInt8]) -> String { "\"\(String(hash(of: bytes), radix: 16))-\(bytes.count)\"" }

    /// Returns the FNV-1a hash of the bytes, which distinguishes versions but is not cryptographic.
    static func hash(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

/// The page for a browser that requested the front page under another host, such as a forwarded port with another number, or a name
/// of this machine. It is constant except for the port, and contains nothing from the request.
enum WrongHostPage {
    /// Returns this page if a browser opens the front page; `nil` for every other request, which receives the problem.
    static func answer(_ request: Request, _ path: Substring, port: Int) -> Response? {
        guard path == "/", request.method == .get, request.headers[.accept]?.utf8.contains("text/html") == true else {
            return nil
        }
        return Answer.body(
            Data(text(port: port).utf8), type: "text/html; charset=utf-8",
            status: HTTPResponse.Status(code: Problem(.misdirected).status))
    }

    private static func text(port: Int) -> String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark"><title>Ferry</title></head><body>
        <h1>Ferry</h1>
        <p>This page answers at <a href="http://127.0.0.1:\(port)/">http://127.0.0.1:\(port)/</a> alone.</p>
        <p>From another machine, forward the same port there, then open that address:</p>
        <pre>ssh -L \(port):127.0.0.1:\(port) HOST</pre>
        <div lang="zh-Hans">
        <p>此页面只能通过 <a href="http://127.0.0.1:\(port)/">http://127.0.0.1:\(port)/</a> 访问。</p>
        <p>从另一台设备访问时，请在那台设备上用上面的命令转发同一端口，再打开这个地址。</p>
        </div></body></html>

        """
    }
}
