import FerryCore
import FerryTerminal

/// An option of aria2c 1.36: its format, and its effect in Ferry on the command line and in calls of the RPC interface.
///
/// A command line refuses options that are not in the table. Calls ignore options that they cannot set, as in aria2.
struct Aria2Option: Sendable {
    enum Form: Sendable, Hashable {
        /// `true` or `false`. On a command line, the name alone means `true`.
        case flag
        case whole(ClosedRange<Int>)
        /// A number of bytes, with `K` or `M` for powers of 1024.
        case size(ClosedRange<ByteCount>)
        case words([String])
        case text
        /// A text, or a list of texts. On a command line, the values accumulate.
        case lines
    }

    enum Effect: String, Sendable, Hashable {
        /// The option sets a property of the request, or a setting of the command or the daemon.
        case applied
        /// The option has no effect: Ferry always behaves like this, or determines the value itself. Calls store the value and
        /// return it.
        case kept
        /// The option is not supported: a warning of the command names it, and the download continues without it.
        case ignored
        /// The option is refused, because ignoring it would change what the command or the call does. In a call, the default
        /// is accepted.
        case refused
    }

    /// The calls that may set an option.
    enum Use: Sendable, Hashable {
        /// Every call for downloads.
        case always
        /// Every call for downloads except the one that sets defaults for new downloads.
        case notGlobal
        /// Every call for downloads except those that change a listed download.
        case notLater
        /// Only calls that add a download.
        case atFirst
        /// Only the call that changes the daemon's settings.
        case global
    }

    /// The meaning of an option in calls.
    struct Call: Sendable, Hashable {
        let effect: Effect
        /// The default value; `nil` if there is none.
        let standard: String?
        let use: Use

        static func applied(_ standard: String? = nil, _ use: Use = .always) -> Call {
            Call(effect: .applied, standard: standard, use: use)
        }

        static func kept(_ standard: String) -> Call { Call(effect: .kept, standard: standard, use: .always) }

        static func refused(_ standard: String? = nil, _ use: Use = .always) -> Call {
            Call(effect: .refused, standard: standard, use: use)
        }
    }

    let name: String
    let form: Form
    /// The option's letter on the command line; `nil` if it has none.
    let letter: Character?
    /// The effect on the command line.
    let command: Effect
    /// Whether an entry of a list (`-i`) may set the option. No such option runs a program or reads another file.
    let isOfLists: Bool
    /// Whether the option is ignored with `--enable-rpc`, with a warning. A daemon starts only programs from the settings of
    /// `ferry serve`.
    let isIgnoredWithRPC: Bool
    /// The meaning in calls; `nil` if they cannot set the option.
    let call: Call?

    private init(
        _ name: String, _ form: Form, letter: Character? = nil, _ command: Effect, inLists: Bool = false,
        withRPC: Bool = true, call: Call? = nil
    ) {
        (self.name, self.form, self.letter, self.command) = (name, form, letter, command)
        (isOfLists, isIgnoredWithRPC, self.call) = (inLists, !withRPC, call)
    }

    // MARK: The table

    /// All options.
    static let all: [Aria2Option] =
        rows
        + groups.flatMap { group in
            group.names.split(at: " ").map { Aria2Option(String($0), group.form, group.command) }
        }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    private static let byLetter = all.reduce(into: [Character: Aria2Option]()) { options, option in
        if let letter = option.letter { options[letter] = option }
    }

    static func named(_ name: String) -> Aria2Option? { byName[name] }
    static func with(letter: Character) -> Aria2Option? { byLetter[letter] }

    /// Returns the option with an unambiguous beginning of its name, as `getopt_long` does.
    ///
    /// - Throws: ``Ambiguous`` with the matching names, if there are none or several.
    static func beginning(with text: String) throws(Ambiguous) -> Aria2Option {
        if let option = byName[text] { return option }
        let options = all.filter { $0.name.utf8.hasPrefix(text) }
        guard options.count == 1 else { throw Ambiguous(names: options.map(\.name).sorted()) }
        return options[0]
    }

    struct Ambiguous: Error { var names: [String] }

    /// The options that calls may set for a download.
    static let ofDownload = all.filter { $0.call.map { $0.use != .global } ?? false }
    /// The options that calls may set for the daemon.
    static let ofDaemon = all.filter { $0.call?.use == .global }

    private static let rows: [Aria2Option] = [
        // Of a download, on the command line and in calls.
        .init("all-proxy", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("all-proxy-passwd", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("all-proxy-user", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("allow-overwrite", .flag, .applied, inLists: true, call: .applied("false", .notLater)),
        .init("allow-piece-length-change", .flag, .kept, call: .kept("false")),
        .init("always-resume", .flag, .kept, call: .kept("true")),
        .init("async-dns", .flag, .kept, call: .kept("true")),
        .init("auto-file-renaming", .flag, .applied, inLists: true, call: .applied("true", .notLater)),
        .init("check-integrity", .flag, letter: "V", .ignored, call: .kept("false")),
        .init("checksum", .text, .applied, inLists: true, call: .applied(nil, .notGlobal)),
        .init("conditional-get", .flag, .kept, call: .kept("false")),
        .init("connect-timeout", .whole(1...600), .applied, inLists: true, call: .applied("15")),
        .init("content-disposition-default-utf8", .flag, .kept, call: .kept("false")),
        .init("continue", .flag, letter: "c", .applied, inLists: true, call: .applied("false", .notLater)),
        .init("dir", .text, letter: "d", .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("dry-run", .flag, .refused, call: .refused("false")),
        .init("enable-http-keep-alive", .flag, .kept, call: .kept("true")),
        .init("enable-http-pipelining", .flag, .kept, call: .kept("false")),
        .init("enable-mmap", .flag, .kept, call: .kept("false")),
        .init("file-allocation", .words(["none", "prealloc", "trunc", "falloc"]), .kept, call: .kept("falloc")),
        .init("follow-metalink", .words(["true", "false", "mem"]), .kept, call: .kept("false")),
        .init("follow-torrent", .words(["true", "false", "mem"]), .kept, call: .kept("false")),
        .init("force-save", .flag, .kept, call: .kept("false")),
        .init("gid", .text, .applied, inLists: true, call: .applied(nil, .atFirst)),
        .init("hash-check-only", .flag, .refused, call: .refused("false")),
        .init("header", .lines, .applied, inLists: true, call: .applied()),
        .init("http-accept-gzip", .flag, .kept, call: .kept("false")),
        .init("http-auth-challenge", .flag, .kept, call: .kept("true")),
        .init("http-no-cache", .flag, .kept, call: .kept("false")),
        .init("http-passwd", .text, .applied, inLists: true, call: .applied(nil, .notGlobal)),
        .init("http-proxy", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("http-proxy-passwd", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("http-proxy-user", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("http-user", .text, .applied, inLists: true, call: .applied(nil, .notGlobal)),
        .init("https-proxy", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("https-proxy-passwd", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("https-proxy-user", .text, .applied, inLists: true, call: .applied(nil, .notLater)),
        .init("lowest-speed-limit", .size(0...most), .applied, inLists: true, call: .applied("0")),
        .init("max-connection-per-server", .whole(1...16), letter: "x", .applied, inLists: true, call: .applied("16")),
        .init("max-download-limit", .size(0...most), .applied, inLists: true, call: .applied("0")),
        .init("max-file-not-found", .whole(0...mostCount), .kept, call: .kept("0")),
        .init("max-mmap-limit", .size(0...most), .kept, call: .kept("0")),
        .init("max-resume-failure-tries", .whole(0...mostCount), .kept, call: .kept("0")),
        .init("max-tries", .whole(0...mostCount), letter: "m", .applied, inLists: true, call: .applied("11")),
        .init("max-upload-limit", .size(0...most), letter: "u", .ignored, call: .kept("0")),
        .init("min-split-size", .size((1 << 20)...(1 << 30)), letter: "k", .kept, call: .kept("1048576")),
        .init("no-file-allocation-limit", .size(0...most), .kept, call: .kept("5242880")),
        .init("no-netrc", .flag, letter: "n", .applied, inLists: true, call: .kept("true")),
        .init("no-proxy", .text, .applied, inLists: true, withRPC: false, call: .refused("")),
        .init("out", .text, letter: "o", .applied, inLists: true, call: .applied(nil, .atFirst)),
        .init("parameterized-uri", .flag, letter: "P", .applied, inLists: true, call: .refused("false")),
        .init("pause", .flag, .applied, inLists: true, call: .applied(nil, .atFirst)),
        .init("pause-metadata", .flag, .ignored, call: .kept("false")),
        .init("piece-length", .size((1 << 20)...(1 << 30)), .kept, call: .kept("1048576")),
        .init("proxy-method", .words(["get", "tunnel"]), .kept, call: .kept("get")),
        .init("realtime-chunk-checksum", .flag, .kept, call: .kept("true")),
        .init("referer", .text, .applied, inLists: true, call: .applied()),
        .init("remote-time", .flag, letter: "R", .applied, inLists: true, call: .applied("true", .notLater)),
        .init("remove-control-file", .flag, .kept, call: .kept("false")),
        .init("retry-wait", .whole(0...600), .kept, call: .kept("0")),
        .init("reuse-uri", .flag, .kept, call: .kept("true")),
        .init("rpc-save-upload-metadata", .flag, .kept, call: .kept("false")),
        .init("save-not-found", .flag, .kept, call: .kept("true")),
        .init("split", .whole(1...mostCount), letter: "s", .applied, inLists: true, call: .applied("16")),
        .init(
            "stream-piece-selector", .words(["default", "inorder", "random", "geom"]), .kept, call: .kept("default")),
        .init("timeout", .whole(1...600), letter: "t", .applied, inLists: true, call: .applied("60")),
        .init("uri-selector", .words(["inorder", "feedback", "adaptive"]), .kept, call: .kept("inorder")),
        .init("use-head", .flag, .kept, call: .kept("false")),
        .init("user-agent", .text, letter: "U", .applied, inLists: true, call: .applied()),
        // Of the daemon. Calls cannot name a file to write or read.
        .init("log", .text, letter: "l", .ignored, call: .refused(nil, .global)),
        .init("max-concurrent-downloads", .whole(1...1_000_000), letter: "j", .applied, call: .applied(nil, .global)),
        .init("max-overall-download-limit", .size(0...most), .applied, call: .applied(nil, .global)),
        .init("save-cookies", .text, .ignored, call: .refused(nil, .global)),
        .init("save-session", .text, .ignored, call: .refused(nil, .global)),
        .init("server-stat-of", .text, .ignored, call: .refused(nil, .global)),
        // Of the command line alone.
        .init("ca-certificate", .text, .applied, withRPC: false),
        .init("check-certificate", .flag, .applied, inLists: true),
        .init("conf-path", .text, .applied),
        .init("console-log-level", .text, .applied),
        .init("daemon", .flag, letter: "D", .refused),
        .init("disable-ipv6", .flag, .applied, withRPC: false),
        .init("download-result", .text, .applied),
        .init("enable-color", .flag, .applied),
        .init("enable-rpc", .flag, .applied),
        .init("force-sequential", .flag, letter: "Z", .applied),
        .init("ftp-pasv", .flag, letter: "p", .kept),
        .init("help", .flag, letter: "h", .applied),
        .init("human-readable", .flag, .applied),
        .init("index-out", .text, letter: "O", .ignored),
        .init("input-file", .text, letter: "i", .applied),
        .init("load-cookies", .text, .applied, withRPC: false),
        .init("metalink-file", .text, letter: "M", .applied),
        .init("netrc-path", .text, .applied, withRPC: false),
        .init("no-conf", .flag, .applied),
        .init("on-download-complete", .text, .applied, withRPC: false),
        .init("on-download-error", .text, .applied, withRPC: false),
        .init("on-download-start", .text, .applied, withRPC: false),
        .init("on-download-stop", .text, .applied, withRPC: false),
        .init("quiet", .flag, letter: "q", .applied),
        .init("rpc-listen-port", .whole(1024...65_535), .applied),
        .init("rpc-secret", .text, .applied),
        .init("rpc-secure", .flag, .refused),
        .init("show-console-readout", .flag, .applied),
        .init("show-files", .flag, letter: "S", .refused),
        .init("stderr", .flag, .applied),
        .init("stop", .whole(0...Int(Int32.max)), .applied),
        .init("stop-with-process", .whole(1...Int(Int32.max)), .applied),
        .init("summary-interval", .whole(0...Int(Int32.max)), .applied),
        .init("torrent-file", .text, letter: "T", .refused),
        .init("version", .flag, letter: "v", .applied),
    ]

    /// Further options of the command line alone.
    private static let groups: [(form: Form, command: Effect, names: String)] = [
        (
            .flag, .kept,
            """
            deferred-input enable-async-dns6 ftp-reuse-connection keep-unfinished-download-result \
            metalink-enable-unique-protocol no-want-digest-header optimize-concurrent-downloads \
            truncate-console-readout
            """
        ),
        (
            .text, .kept,
            """
            auto-save-interval disk-cache dscp event-poll ftp-type max-download-result metalink-preferred-protocol \
            rlimit-nofile rpc-max-request-size seed-ratio seed-time server-stat-timeout socket-recv-buffer-size
            """
        ),
        (
            .flag, .ignored,
            """
            bt-detach-seed-only bt-enable-hook-after-hash-check bt-enable-lpd bt-force-encryption bt-hash-check-seed \
            bt-load-saved-metadata bt-metadata-only bt-remove-unselected-file bt-require-crypto bt-save-metadata \
            bt-seed-unverified enable-dht enable-dht6 enable-peer-exchange rpc-allow-origin-all rpc-listen-all
            """
        ),
        (
            .text, .ignored,
            """
            async-dns-server bt-exclude-tracker bt-external-ip bt-lpd-interface bt-max-open-files bt-max-peers \
            bt-min-crypto-level bt-prioritize-piece bt-request-peer-speed-limit bt-stop-timeout bt-tracker \
            bt-tracker-connect-timeout bt-tracker-interval bt-tracker-timeout certificate dht-entry-point \
            dht-entry-point6 dht-file-path dht-file-path6 dht-listen-addr6 dht-listen-port dht-message-timeout \
            ftp-passwd ftp-proxy ftp-proxy-passwd ftp-proxy-user ftp-user interface listen-port log-level \
            max-overall-upload-limit metalink-base-uri metalink-language metalink-location metalink-os \
            metalink-version min-tls-version multiple-interface on-bt-download-complete on-download-pause peer-agent \
            peer-id-prefix private-key rpc-certificate rpc-passwd rpc-private-key rpc-user save-session-interval \
            select-file server-stat-if ssh-host-key-md
            """
        ),
    ]

    private static let most = ByteCount.bound - 1
    private static let mostCount = DownloadRequest.mostRetries

    // MARK: Secrets

    /// Returns the part of an option's value that is secret; `nil` if no part is, or if aria2 has no option of that name.
    static func secrecy(of name: String) -> ArgumentSecrets.Secrecy? {
        let secrecy: ArgumentSecrets.Secrecy
        if name == "header" {
            secrecy = .header
        } else if name.utf8.hasSuffix("-proxy"), name != "no-proxy" {
            secrecy = .proxy
        } else if ["-passwd", "-user", "-secret"].contains(where: { name.utf8.hasSuffix($0) }) {
            secrecy = .whole
        } else {
            return nil
        }
        return named(name) == nil ? nil : secrecy
    }

    // MARK: Values

    /// The maximum length of a text, or of all header fields.
    private static let mostBytes = 64 << 10

    /// Returns the value of a call in its canonical form; `nil` for a JSON value that aria2 ignores. Throws if the value has
    /// the wrong form.
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
        guard call?.effect != .refused || value == call?.standard ?? "" else { throw notHere }
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

    /// Returns the number of bytes; `nil` if the text is not a size.
    static func size(_ text: String) -> ByteCount? {
        let units: [(String, ByteCount)] = [("K", 1 << 10), ("k", 1 << 10), ("M", 1 << 20), ("m", 1 << 20)]
        for (suffix, unit) in units {
            guard let digits = text.dropping(suffix: suffix) else { continue }
            let product = ByteCount(digits)?.multipliedReportingOverflow(by: unit)
            return product.flatMap { $0.overflow ? nil : $0.partialValue }
        }
        return ByteCount(text)
    }
}
