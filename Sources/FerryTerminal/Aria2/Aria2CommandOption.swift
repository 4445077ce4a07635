import FerryCore

/// The options of aria2c 1.36, and how Ferry treats each of them.
enum Aria2CommandOption {
    /// The value that an option takes on the command line.
    enum Value: Sendable {
        case required
        /// `--name`, `--name=true` or `--name=false`.
        case flag
    }

    /// How Ferry treats an option.
    enum Use: Sendable, Hashable {
        case followed
        /// Accepted without effect: Ferry always behaves like this, or determines the value itself.
        case needless
        /// Not supported: a warning names the option, and the download continues without it.
        case ignored
        /// Refused with an error, because ignoring the option would change what the command does.
        case refused
    }

    /// Returns the value and the use of an option by its long name; `nil` if aria2 has none of that name.
    static func find(_ name: String) -> (value: Value, use: Use)? {
        guard let use = uses[name] else { return nil }
        return (flags.contains(name) ? .flag : .required, use)
    }

    /// Returns the full name of the option with an unambiguous prefix, as `getopt_long` does.
    ///
    /// - Throws: ``Ambiguous`` with the matching names, if there are none or several.
    static func complete(_ beginning: String) throws(Ambiguous) -> String {
        if uses[beginning] != nil { return beginning }
        let names = uses.keys.filter { $0.utf8.hasPrefix(beginning) }.sorted()
        guard names.count == 1 else { throw Ambiguous(names: names) }
        return names[0]
    }

    struct Ambiguous: Error { var names: [String] }

    /// Returns which part of an option's value is secret, by the suffix of the option's name; `nil` if no part is.
    static func secrecy(of name: String) -> ArgumentSecrets.Secrecy? {
        if name == "header" { return .header }
        if name.utf8.hasSuffix("-proxy") { return .proxy }
        let words = ["-passwd", "-user", "-secret"]
        return words.contains { name.utf8.hasSuffix($0) } ? .whole : nil
    }

    /// The names of all options.
    static var all: [String] { Array(uses.keys) }

    /// The one-letter options, with their long names.
    static let letters: [Character: String] = [
        "v": "version", "h": "help", "t": "timeout", "m": "max-tries", "l": "log", "d": "dir", "o": "out", "s": "split",
        "D": "daemon", "V": "check-integrity", "c": "continue", "n": "no-netrc", "i": "input-file",
        "j": "max-concurrent-downloads", "Z": "force-sequential", "P": "parameterized-uri", "q": "quiet",
        "R": "remote-time", "x": "max-connection-per-server", "k": "min-split-size", "p": "ftp-pasv",
        "U": "user-agent", "S": "show-files", "u": "max-upload-limit", "T": "torrent-file", "O": "index-out",
        "M": "metalink-file",
    ]

    /// The options that an entry of a list (`-i`) may set; none of them runs a program or reads another file.
    static let ofEntries = names(
        """
        all-proxy all-proxy-passwd all-proxy-user allow-overwrite auto-file-renaming check-certificate checksum \
        connect-timeout continue dir gid header http-passwd http-proxy http-proxy-passwd http-proxy-user http-user \
        https-proxy https-proxy-passwd https-proxy-user lowest-speed-limit max-connection-per-server max-download-limit \
        max-tries no-netrc \
        no-proxy out parameterized-uri pause referer remote-time split timeout user-agent
        """)

    /// The options of ``ofEntries`` that select the proxy of an entry, or a direct connection.
    static let ofRoutes = names("all-proxy http-proxy https-proxy no-proxy")

    private static let uses: [String: Use] = {
        var uses: [String: Use] = [:]
        for (use, list) in [
            (Use.followed, followed), (.needless, needless), (.ignored, ignored), (.refused, refused),
        ] {
            for name in list { uses[name] = use }
        }
        return uses
    }()

    private static let followed = names(
        """
        all-proxy all-proxy-passwd all-proxy-user allow-overwrite auto-file-renaming ca-certificate check-certificate \
        checksum conf-path connect-timeout console-log-level continue dir disable-ipv6 download-result enable-color \
        enable-rpc force-sequential gid header help http-passwd http-proxy http-proxy-passwd http-proxy-user http-user \
        https-proxy https-proxy-passwd https-proxy-user human-readable input-file load-cookies lowest-speed-limit \
        max-concurrent-downloads max-connection-per-server max-download-limit max-overall-download-limit max-tries \
        metalink-file netrc-path no-conf no-netrc no-proxy on-download-complete on-download-error on-download-start \
        on-download-stop out parameterized-uri pause quiet referer remote-time rpc-listen-port rpc-secret show-console-readout split stderr stop \
        stop-with-process summary-interval timeout user-agent version
        """)

    private static let needless = names(
        """
        allow-piece-length-change always-resume async-dns auto-save-interval conditional-get \
        content-disposition-default-utf8 deferred-input disk-cache dscp enable-async-dns6 enable-http-keep-alive \
        enable-http-pipelining enable-mmap event-poll file-allocation follow-metalink follow-torrent force-save \
        http-accept-gzip http-auth-challenge http-no-cache keep-unfinished-download-result max-download-result \
        max-file-not-found max-mmap-limit max-resume-failure-tries metalink-enable-unique-protocol \
        metalink-preferred-protocol min-split-size no-file-allocation-limit no-want-digest-header \
        optimize-concurrent-downloads piece-length proxy-method realtime-chunk-checksum remove-control-file retry-wait \
        reuse-uri rlimit-nofile save-not-found server-stat-timeout socket-recv-buffer-size stream-piece-selector \
        truncate-console-readout uri-selector use-head rpc-max-request-size rpc-save-upload-metadata ftp-pasv ftp-reuse-connection ftp-type seed-ratio seed-time
        """)

    private static let ignored = names(
        """
        async-dns-server bt-detach-seed-only bt-enable-hook-after-hash-check bt-enable-lpd bt-exclude-tracker \
        bt-external-ip bt-force-encryption bt-hash-check-seed bt-load-saved-metadata bt-lpd-interface bt-max-open-files \
        bt-max-peers bt-metadata-only bt-min-crypto-level bt-prioritize-piece bt-remove-unselected-file \
        bt-request-peer-speed-limit bt-require-crypto bt-save-metadata bt-seed-unverified bt-stop-timeout bt-tracker \
        bt-tracker-connect-timeout bt-tracker-interval bt-tracker-timeout certificate check-integrity dht-entry-point \
        dht-entry-point6 dht-file-path dht-file-path6 dht-listen-addr6 dht-listen-port dht-message-timeout enable-dht \
        enable-dht6 enable-peer-exchange ftp-passwd ftp-proxy ftp-proxy-passwd ftp-proxy-user ftp-user index-out \
        interface listen-port log log-level max-overall-upload-limit max-upload-limit \
        metalink-base-uri metalink-language metalink-location metalink-os metalink-version min-tls-version \
        multiple-interface on-bt-download-complete on-download-pause pause-metadata peer-agent peer-id-prefix \
        private-key rpc-allow-origin-all rpc-certificate rpc-listen-all rpc-passwd rpc-private-key rpc-user save-cookies save-session save-session-interval select-file server-stat-if server-stat-of \
        ssh-host-key-md
        """)

    private static let refused = names("daemon dry-run hash-check-only rpc-secure show-files torrent-file")

    private static let flags: Set<String> = names(
        """
        allow-overwrite allow-piece-length-change always-resume async-dns auto-file-renaming bt-detach-seed-only \
        bt-enable-hook-after-hash-check bt-enable-lpd bt-force-encryption bt-hash-check-seed bt-load-saved-metadata \
        bt-metadata-only bt-remove-unselected-file bt-require-crypto bt-save-metadata bt-seed-unverified \
        check-certificate check-integrity conditional-get content-disposition-default-utf8 continue daemon \
        deferred-input disable-ipv6 dry-run enable-async-dns6 enable-color enable-dht enable-dht6 enable-http-keep-alive \
        enable-http-pipelining enable-mmap enable-peer-exchange enable-rpc force-save force-sequential ftp-pasv \
        ftp-reuse-connection hash-check-only http-accept-gzip http-auth-challenge http-no-cache human-readable \
        keep-unfinished-download-result metalink-enable-unique-protocol no-conf no-netrc no-want-digest-header \
        optimize-concurrent-downloads parameterized-uri pause pause-metadata quiet realtime-chunk-checksum remote-time \
        remove-control-file reuse-uri rpc-allow-origin-all rpc-listen-all rpc-save-upload-metadata rpc-secure \
        save-not-found show-console-readout show-files stderr truncate-console-readout use-head help version
        """)

    private static func names(_ text: String) -> Set<String> { Set(text.split(at: " ").map(String.init)) }
}
