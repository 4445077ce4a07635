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

    /// The bytes of each file by path; every file in the folder Assets has an entry.
    static var files: [String: [UInt8]] {
        [
            "/actions.js": PackageResources.actions_js,
            "/add.js": PackageResources.add_js,
            "/announce.js": PackageResources.announce_js,
            "/api.js": PackageResources.api_js,
            "/arrange.js": PackageResources.arrange_js,
            "/ask.js": PackageResources.ask_js,
            "/bar.js": PackageResources.bar_js,
            "/base.css": PackageResources.base_css,
            "/browsers.js": PackageResources.browsers_js,
            "/change.js": PackageResources.change_js,
            "/connection.js": PackageResources.connection_js,
            "/controls.css": PackageResources.controls_css,
            "/detail.css": PackageResources.detail_css,
            "/detail.js": PackageResources.detail_js,
            "/dom.js": PackageResources.dom_js,
            "/drag.js": PackageResources.drag_js,
            "/facts.js": PackageResources.facts_js,
            "/format.js": PackageResources.format_js,
            "/frame.css": PackageResources.frame_css,
            "/graph.js": PackageResources.graph_js,
            "/icons.js": PackageResources.icons_js,
            "/index.html": PackageResources.index_html,
            "/keys.js": PackageResources.keys_js,
            "/links.js": PackageResources.links_js,
            "/list.css": PackageResources.list_css,
            "/list.js": PackageResources.list_js,
            "/main.js": PackageResources.main_js,
            "/mark.svg": PackageResources.mark_svg,
            "/menu.js": PackageResources.menu_js,
            "/ranges.js": PackageResources.ranges_js,
            "/row.js": PackageResources.row_js,
            "/rowmenu.js": PackageResources.rowmenu_js,
            "/selection.js": PackageResources.selection_js,
            "/sentences.js": PackageResources.sentences_js,
            "/signin.js": PackageResources.signin_js,
            "/store.js": PackageResources.store_js,
            "/stream.js": PackageResources.stream_js,
            "/text.js": PackageResources.text_js,
            "/totals.js": PackageResources.totals_js,
            "/words.js": PackageResources.words_js,
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
