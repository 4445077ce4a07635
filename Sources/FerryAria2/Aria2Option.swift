import FerryAPI
package import FerryCore

/// An option of aria2 that calls may set: its format, its default, and its effect in Ferry.
///
/// Options that are not in the tables are ignored, as aria2 ignores options that a call cannot set.
package struct Aria2Option: Sendable {
    package enum Form: Sendable, Hashable {
        case flag
        case whole(ClosedRange<Int>)
        /// A number of bytes, with `K` or `M` for powers of 1024.
        case size(ClosedRange<ByteCount>)
        case words([String])
        case text
        /// A text, or a list of texts.
        case lines
    }

    package enum Effect: String, Sendable, Hashable {
        /// The option sets a property of the request, or a setting of the daemon.
        case applied
        /// The value is stored and returned, but has no effect.
        case kept
        /// Every value except the default is refused. The default has no effect.
        case refused
    }

    /// The calls that may set an option of a download.
    package enum Use: Sendable, Hashable {
        case always
        /// Every call except the one that sets defaults for new downloads.
        case notGlobal
        /// Every call except those that change a listed download.
        case notLater
        /// Only calls that add a download.
        case atFirst
    }

    package let name: String
    package let form: Form
    package let effect: Effect
    /// The default value; `nil` if there is none.
    package let standard: String?
    package let use: Use

    private init(_ name: String, _ form: Form, _ standard: String?, _ effect: Effect, _ use: Use = .always) {
        (self.name, self.form, self.standard, self.effect, self.use) = (name, form, standard, effect, use)
    }

    private static func applied(
        _ name: String, _ form: Form, _ standard: String? = nil, _ use: Use = .always
    ) -> Aria2Option { Aria2Option(name, form, standard, .applied, use) }

    private static func kept(_ name: String, _ form: Form, _ standard: String) -> Aria2Option {
        Aria2Option(name, form, standard, .kept)
    }

    private static func keptFlag(_ name: String, _ standard: Bool) -> Aria2Option {
        kept(name, .flag, String(standard))
    }

    private static func refused(_ name: String, _ form: Form, _ standard: String? = nil) -> Aria2Option {
        Aria2Option(name, form, standard, .refused)
    }

    /// The options of a download.
    package static let ofDownload: [Aria2Option] = [
        applied("all-proxy", .text, nil, .notLater), applied("all-proxy-passwd", .text, nil, .notLater),
        applied("all-proxy-user", .text, nil, .notLater), applied("allow-overwrite", .flag, "false", .notLater),
        keptFlag("allow-piece-length-change", false), keptFlag("always-resume", true), keptFlag("async-dns", true),
        applied("auto-file-renaming", .flag, "true", .notLater), keptFlag("check-integrity", false),
        applied("checksum", .text, nil, .notGlobal), keptFlag("conditional-get", false),
        applied("connect-timeout", .whole(1...600), "15"), keptFlag("content-disposition-default-utf8", false),
        applied("continue", .flag, "false", .notLater), applied("dir", .text, nil, .notLater),
        refused("dry-run", .flag, "false"), keptFlag("enable-http-keep-alive", true),
        keptFlag("enable-http-pipelining", false), keptFlag("enable-mmap", false),
        kept("file-allocation", .words(["none", "prealloc", "trunc", "falloc"]), "falloc"),
        kept("follow-metalink", .words(["true", "false", "mem"]), "false"),
        kept("follow-torrent", .words(["true", "false", "mem"]), "false"), keptFlag("force-save", false),
        applied("gid", .text, nil, .atFirst), refused("hash-check-only", .flag, "false"), applied("header", .lines),
        keptFlag("http-accept-gzip", false), keptFlag("http-auth-challenge", true), keptFlag("http-no-cache", false),
        applied("http-passwd", .text, nil, .notGlobal), applied("http-proxy", .text, nil, .notLater),
        applied("http-proxy-passwd", .text, nil, .notLater), applied("http-proxy-user", .text, nil, .notLater),
        applied("http-user", .text, nil, .notGlobal), applied("https-proxy", .text, nil, .notLater),
        applied("https-proxy-passwd", .text, nil, .notLater), applied("https-proxy-user", .text, nil, .notLater),
        applied("lowest-speed-limit", .size(0...most), "0"), applied("max-connection-per-server", .whole(1...16), "16"),
        applied("max-download-limit", .size(0...most), "0"), kept("max-file-not-found", .whole(0...mostCount), "0"),
        kept("max-mmap-limit", .size(0...most), "0"), kept("max-resume-failure-tries", .whole(0...mostCount), "0"),
        applied("max-tries", .whole(0...mostCount), "11"), kept("max-upload-limit", .size(0...most), "0"),
        kept("min-split-size", .size((1 << 20)...(1 << 30)), "1048576"),
        kept("no-file-allocation-limit", .size(0...most), "5242880"), keptFlag("no-netrc", true),
        refused("no-proxy", .text, ""), applied("out", .text, nil, .atFirst),
        refused("parameterized-uri", .flag, "false"), applied("pause", .flag, nil, .atFirst),
        keptFlag("pause-metadata", false), kept("piece-length", .size((1 << 20)...(1 << 30)), "1048576"),
        kept("proxy-method", .words(["get", "tunnel"]), "get"), keptFlag("realtime-chunk-checksum", true),
        applied("referer", .text), applied("remote-time", .flag, "true", .notLater),
        keptFlag("remove-control-file", false), kept("retry-wait", .whole(0...600), "0"), keptFlag("reuse-uri", true),
        keptFlag("rpc-save-upload-metadata", false), keptFlag("save-not-found", true),
        applied("split", .whole(1...mostCount), "16"),
        kept("stream-piece-selector", .words(["default", "inorder", "random", "geom"]), "default"),
        applied("timeout", .whole(1...600), "60"),
        kept("uri-selector", .words(["inorder", "feedback", "adaptive"]), "inorder"), keptFlag("use-head", false),
        applied("user-agent", .text),
    ]

    /// The options of the daemon. Those that name a file to write or read are refused.
    package static let ofDaemon: [Aria2Option] = [
        refused("log", .text), applied("max-concurrent-downloads", .whole(1...FerryAPI.mostAtOnce)),
        applied("max-overall-download-limit", .size(0...most)), refused("save-cookies", .text),
        refused("save-session", .text), refused("server-stat-of", .text),
    ]

    private static let most = ByteCount.bound - 1
    private static let mostCount = DownloadRequest.mostAttempts
    /// The maximum length of a text, or of all header fields.
    private static let mostBytes = 64 << 10

    // MARK: Values

    /// Returns the value in its canonical form; `nil` for a JSON value that aria2 ignores. Throws if the value has the wrong
    /// form.
    func value(of given: JSONValue) throws(Aria2Error) -> String? {
        let text: String
        switch (given, form) {
        case (.text(let given), _): text = given
        case (.list(let items), .lines): text = items.compactMap(\.string).joined(separator: "\n")
        default: return nil
        }
        guard text.utf8.count <= Self.mostBytes, let value = value(parsing: text) else {
            throw Aria2Error("We encountered a problem while processing the option '--\(name)'.")
        }
        guard effect != .refused || value == standard ?? "" else { throw notHere }
        return value
    }

    /// The error for an option that the call cannot set.
    var notHere: Aria2Error { Aria2Error("\(name) option cannot be used in this context.") }

    private func value(parsing text: String) -> String? {
        switch form {
        case .flag: text == "true" || text == "false" ? text : text.isEmpty ? "true" : nil
        case .whole(let range): Int(text).flatMap { range.contains($0) ? String($0) : nil }
        case .size(let range): Self.size(text).flatMap { range.contains($0) ? String($0) : nil }
        case .words(let words): words.contains(text) ? text : nil
        case .text: text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text
        case .lines: text
        }
    }

    private static func size(_ text: String) -> ByteCount? {
        let units: [(String, ByteCount)] = [("K", 1 << 10), ("k", 1 << 10), ("M", 1 << 20), ("m", 1 << 20)]
        for (suffix, unit) in units {
            guard let digits = text.dropping(suffix: suffix) else { continue }
            let product = ByteCount(digits)?.multipliedReportingOverflow(by: unit)
            return product.flatMap { $0.overflow ? nil : $0.partialValue }
        }
        return ByteCount(text)
    }
}
