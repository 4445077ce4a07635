package import FerryCore

/// Names the option of Ferry for an unknown option that other downloaders have.
package enum OptionAdvice {
    package static let onlyGET = "ferry downloads with GET: it sends no data and has no other method"

    /// Returns the message of the argument parser, with advice in place of its guess.
    package static func improve(_ message: String) -> Reason {
        guard let (pattern, values) = patterns.lazy.compactMap({ read(message, $0) }).first else {
            return .words(message)
        }
        if pattern.utf8.hasPrefix("Unknown"), let advice = advice[values[0]] {
            return "Unknown option '\(values[0])': \(Reason.pattern(advice, []))"
        }
        let text = Reason.pattern(pattern, values.map { .words($0) })
        // The option of curl for a proxy.
        guard pattern.utf8.hasPrefix("The value"), values[1].utf8.hasPrefix("-x "), values[0].utf8.contains(":") else {
            return text
        }
        return "\(text); a proxy is --proxy URL"
    }

    /// The messages of the argument parser, the longer ones first.
    private static let patterns = [
        "Unknown option '{0}'. Did you mean '{1}'?", "Unknown option '{0}'", "Missing expected argument '{0}'",
        "Missing value for '{0}'", "The value '{0}' is invalid for '{1}'", "Unexpected argument '{0}'",
        "{0} unexpected arguments: {1}",
    ]

    /// Returns the pattern, and what fills its holes in the message; `nil` if it is another message.
    private static func read(_ message: String, _ pattern: String) -> (pattern: String, values: [String])? {
        var (rest, parts) = (message[...], pattern[...])
        var values: [String] = []
        while let hole = parts.utf8.firstRange(of: "{\(values.count)}") {
            guard let start = rest.dropping(prefix: String(parts[..<hole.lowerBound])) else { return nil }
            parts = parts[hole.upperBound...]
            let next = parts.utf8.firstRange(of: "{\(values.count + 1)}")?.lowerBound ?? parts.endIndex
            let mark = String(parts[..<next])
            let end = mark.isEmpty ? start.endIndex : start.utf8.firstRange(of: mark)?.lowerBound
            guard let end else { return nil }
            values.append(String(start[..<end]))
            rest = start[end...]
        }
        return rest.utf8.elementsEqual(parts.utf8) ? (pattern, values) : nil
    }

    private static let advice: [String: String] = {
        var all: [String: String] = [:]
        for (names, advice) in table { for name in names.split(at: " ") { all[String(name)] = advice } }
        return all
    }()

    /// Names with blanks between them, and what is said.
    private static let table: [(String, String)] = [
        ("--cacert --capath --ca-certificate --ca-directory", "use --ca-file FILE"),
        ("-E --cert --key --certificate --private-key --pass", "client certificates cannot be used"),
        ("--no-check-certificate --check-certificate", "use --insecure"),
        (
            "-F -T --data --data-raw --data-binary --data-ascii --data-urlencode --form --form-string --upload-file "
                + "--post-data --post-file --body-data --body-file --method --get -G", onlyGET
        ),
        ("-I --head --spider --dry-run --simulate", "use ferry plan URL"),
        (
            "-r --range --recursive --page-requisites --start-pos",
            "ferry fetches whole files, one for each URL: no ranges, and nothing recursive"
        ),
        ("--rate --speed-limit --max-speed --max-download-limit --max-overall-download-limit", "use --limit-rate RATE"),
        ("-m -y -Y --timeout --max-time --read-timeout --speed-time", "use --stall-timeout or --connect-timeout"),
        ("-t --tries --retry --max-tries --retry-connrefused", "use --retries N"),
        ("-n --no-clobber --skip-existing", "use --on-conflict skip"),
        ("--overwrite --force --allow-overwrite --clobber", "use --on-conflict overwrite"),
        ("--split --max-connection-per-server --num-connections", "use -x N"),
        ("--max-concurrent-downloads --parallel-max", "use -j N"),
        ("--max-redirs --max-redirect --location-trusted", "use --max-redirects N; redirects are followed"),
        ("--output-document --out", "use -o FILE"), ("--directory-prefix --output-dir --directory", "use -d DIR"),
        ("--input-file", "use -i LIST"), ("--url", "give the URL alone"),
        (
            "--http-user --http-password --http-passwd --password --username --basic --digest",
            "use --user USER:PASSWORD; Basic and Digest are found out"
        ),
        ("--netrc-file --netrc-path", "write NETRC=FILE ferry get --netrc"),
        (
            "-U",
            "it is --proxy-user of curl and --user-agent of wget: use --proxy http://USER:PASSWORD@HOST or -A TEXT"
        ),
        (
            "--proxy-user --proxy-password --all-proxy --http-proxy --https-proxy --socks5 --socks5-hostname --preproxy",
            "use --proxy http://USER:PASSWORD@HOST:PORT or socks5://HOST:PORT"
        ),
        ("--noproxy --no-proxy", "use --proxy none, or the variable no_proxy"),
        ("--cookie-jar --save-cookies --keep-session-cookies", "cookies of servers are kept for one download only"),
        ("--sha256 --sha512 --sha1 --md5", "use --checksum sha256:HEX (or sha512, sha1, md5)"),
        ("--no-verbose --no-progress-meter", "use -q or --no-progress"),
        ("--interface --bind-address --resolve --dns-servers --unix-socket", "the route cannot be chosen"),
    ]
}
