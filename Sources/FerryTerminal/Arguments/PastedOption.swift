import FerryCore

/// An option of curl or wget, and its treatment by `ferry curl` and `ferry wget`. A test compares the tables of
/// docs/curl-and-wget.md with these.
struct PastedOption: Sendable {
    /// A program whose command lines are translated.
    enum Program: String, Sendable, CaseIterable {
        case curl, wget
    }

    enum Meaning: Sendable, Hashable {
        /// These words replace an option without a value.
        case words([String])
        /// This Ferry option, with the value unchanged.
        case option(String)
        /// This Ferry option, with a number of seconds, in Ferry's syntax.
        case seconds(String)
        /// This Ferry option, with a size in units of 1024, in Ferry's syntax.
        case size(String)
        /// The option is Ferry's default behaviour, or has no effect here.
        case nothing(takesValue: Bool)
        /// The option affects the whole command.
        case role(Role)
        /// Ferry has no such option; the payload says what to do instead.
        case refused(String)

        var takesValue: Bool {
            switch self {
            case .option, .seconds, .size, .nothing(takesValue: true): true
            case .role(let role): role.takesValue
            case .words, .nothing, .refused: false
            }
        }
    }

    /// An option that affects the whole command, such as which files are written or how often a download is attempted.
    enum Role: Sendable, Hashable {
        case file, nameOfURL, namesOfURLs, nameOfServer, quiet, showsProgress, retries, tries, retriesRefused, protocols
        case url, field
        case glob, bearer, noProxyFor, user, password, execute, method
        case recursive, mirror, level, prefix, noHost, cutDirectories, noDirectories, forceDirectories, accept, reject
        case noClobber, goesOn, makesDirectories

        var takesValue: Bool {
            switch self {
            case .file, .retries, .tries, .protocols, .url, .field, .bearer, .noProxyFor, .user, .password, .execute,
                .method,
                .level, .prefix, .cutDirectories, .accept, .reject:
                true
            case .nameOfURL, .namesOfURLs, .nameOfServer, .quiet, .showsProgress, .retriesRefused, .glob, .recursive,
                .mirror, .noHost, .noDirectories, .forceDirectories, .noClobber, .goesOn,
                .makesDirectories:
                false
            }
        }

        /// The cell of the table in the documentation.
        var text: String {
            switch self {
            case .file: "`-o FILE --on-conflict overwrite`"
            case .nameOfURL: "the name in the URL, `--on-conflict overwrite`"
            case .namesOfURLs: "the names in the URLs, `--on-conflict overwrite`"
            case .nameOfServer: "the server's name, which replaces no file"
            case .quiet: "`-q --no-paths`"
            case .showsProgress: "progress although the command is quiet"
            case .retries: "`--retries N`; a refused connection is not tried again"
            case .tries: "`--retries N-1`, 0 is `inf`; a refused connection is not tried again"
            case .retriesRefused: "a refused connection is tried again"
            case .protocols: "`https` alone: the URLs must be so; with `http` as always; others are refused"
            case .url: "the URL"
            case .field: "`-H`; left out: an empty field, conditions, `Range: bytes=0-`"
            case .glob: "the URL as it is"
            case .bearer: "`-H 'Authorization: Bearer TOKEN'`"
            case .noProxyFor: "`*` is `--proxy none`; else use the variable `no_proxy`"
            case .user, .password: "`--user USER:PASSWORD`"
            case .execute: "`robots=off` is accepted, nothing else"
            case .method: "`GET` is accepted, nothing else"
            case .recursive: "`ferry sync URL DIR --depth 4`"
            case .mirror: "`ferry sync URL DIR`"
            case .level: "`--depth N-1`, 0 and `inf` without"
            case .prefix: "`-d DIR`; of a sync the directory above DIR"
            case .noHost: "of a sync: DIR without the host"
            case .cutDirectories: "of a sync: DIR without N directories of the path"
            case .noDirectories: "of a single file as always; of a sync refused"
            case .forceDirectories: "`--name '{host}/{path}/{name}'`"
            case .accept: "of a sync: `--include '*SUFFIX'`, or the pattern"
            case .reject: "of a sync: `--exclude '*SUFFIX'`, or the pattern"
            case .makesDirectories: "the directory of `-o` is made; without it, it must be there"
            case .goesOn: "`-c`; of a sync accepted"
            case .noClobber: "`--on-conflict skip`; of a sync refused"
            }
        }
    }

    /// The names, with their dashes.
    let names: [String]
    let meaning: Meaning

    private init(_ names: String, _ meaning: Meaning) {
        self.names = names.split(at: " ").map(String.init)
        self.meaning = meaning
    }

    /// The cell of the table in the documentation.
    var text: String {
        switch meaning {
        case .words(let words): "`" + words.joined(separator: " ") + "`"
        case .option(let option): "`\(option)`"
        case .seconds(let option): "`\(option)`, in seconds"
        case .size(let option): "`\(option)`, in units of 1024"
        case .nothing: "accepted"
        case .role(let role): role.text
        case .refused(let reason): "refused: \(reason)"
        }
    }

    /// The options of a program.
    static func all(of program: Program) -> [PastedOption] { program == .curl ? curl : wget }

    /// Returns the option with this name, or the only one whose long name begins with it, as both programs do.
    static func named(_ name: String, of program: Program) -> PastedOption? {
        if let option = byName[program]?[name] { return option }
        guard name.utf8.hasPrefix("--"), name.utf8.count > 4 else { return nil }
        let meant = all(of: program).filter { $0.names.contains { $0.utf8.hasPrefix(name) } }
        return meant.count == 1 ? meant.first : nil
    }

    private static let byName: [Program: [String: PastedOption]] = {
        var all: [Program: [String: PastedOption]] = [:]
        for program in Program.allCases {
            for option in Self.all(of: program) {
                for name in option.names { all[program, default: [:]][name] = option }
            }
        }
        return all
    }()

    // MARK: Tables

    private static let accepted = Meaning.nothing(takesValue: false)
    private static let acceptedValue = Meaning.nothing(takesValue: true)
    private static let onlyGET = Meaning.refused(OptionAdvice.onlyGET)
    private static let plan = Meaning.refused("use ferry plan URL")
    private static let certificates = Meaning.refused("client certificates cannot be used")
    private static let route = Meaning.refused("the route cannot be chosen")
    static let wholeFiles = "ferry fetches whole files; -o - | tail -c +N leaves out the first bytes"
    private static let ranges = Meaning.refused(wholeFiles)
    private static let jar = Meaning.refused("cookies of servers are kept for one download only")
    private static let log = Meaning.refused("use -v, and 2>FILE for a file")
    private static let pages = Meaning.refused("ferry sync fetches the files of directory pages, not pages of a site")

    private static let curl: [PastedOption] = [
        PastedOption("-o --output", .role(.file)),
        PastedOption("-O --remote-name", .role(.nameOfURL)), PastedOption("--remote-name-all", .role(.namesOfURLs)),
        PastedOption("-J --remote-header-name", .role(.nameOfServer)), PastedOption("--output-dir", .option("-d")),
        PastedOption("--create-dirs", .role(.makesDirectories)),
        PastedOption("--no-clobber", .words(["--on-conflict", "rename"])),
        PastedOption("--clobber", .words(["--on-conflict", "overwrite"])),
        PastedOption("--skip-existing", .words(["--on-conflict", "skip"])),
        PastedOption("-R --remote-time", accepted), PastedOption("-C --continue-at", .option("-C")),
        PastedOption("--max-filesize", .size("--max-size")), PastedOption("--url", .role(.url)),
        PastedOption("-L --location", accepted), PastedOption("--max-redirs", .option("--max-redirects")),
        PastedOption("-f --fail --fail-with-body", accepted), PastedOption("-s --silent", .role(.quiet)),
        PastedOption("-S --show-error", accepted), PastedOption("--no-progress-meter", .words(["--no-progress"])),
        PastedOption("-# --progress-bar", accepted), PastedOption("-v --verbose", .words(["-v"])),
        PastedOption("-N --no-buffer", accepted), PastedOption("-g --globoff", .role(.glob)),
        PastedOption("-q --disable", accepted), PastedOption("-H --header", .role(.field)),
        PastedOption("-A --user-agent", .option("-A")), PastedOption("-e --referer", .option("-e")),
        PastedOption("-b --cookie", .option("-b")), PastedOption("-j --junk-session-cookies", accepted),
        PastedOption("-u --user", .option("-u")), PastedOption("--oauth2-bearer", .role(.bearer)),
        PastedOption("--basic --digest --anyauth", accepted), PastedOption("-n --netrc", .words(["--netrc"])),
        PastedOption("-X --request", .option("-X")), PastedOption("-G --get", accepted),
        PastedOption("--compressed", accepted), PastedOption("-x --proxy", .option("--proxy")),
        PastedOption("--noproxy", .role(.noProxyFor)), PastedOption("--cacert", .option("--ca-file")),
        PastedOption("-k --insecure", .words(["-k"])), PastedOption("--ssl-reqd --ssl-no-revoke", accepted),
        PastedOption("--tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2", accepted),
        PastedOption("--http1.1 --http2 --no-alpn", accepted), PastedOption("--proto --proto-redir", .role(.protocols)),
        PastedOption("--proto-default", acceptedValue), PastedOption("-4 --ipv4", .words(["-4"])),
        PastedOption("-6 --ipv6", .words(["-6"])), PastedOption("--connect-timeout", .option("--connect-timeout")),
        PastedOption("-y --speed-time", .option("--stall-timeout")),
        PastedOption("-Y --speed-limit", .size("--min-speed")),
        PastedOption("--limit-rate", .size("--limit-rate")), PastedOption("--retry", .role(.retries)),
        PastedOption("--retry-connrefused", .role(.retriesRefused)),
        PastedOption("--retry-delay --retry-max-time", acceptedValue), PastedOption("--retry-all-errors", accepted),
        PastedOption("--no-keepalive --tcp-nodelay --tcp-fastopen", accepted),
        PastedOption("--keepalive-time --happy-eyeballs-timeout-ms", acceptedValue),
        PastedOption("-Z --parallel --parallel-immediate", accepted), PastedOption("--parallel-max", .option("-j")),
        PastedOption(
            "-d --data --data-raw --data-binary --data-ascii --data-urlencode -F --form --form-string -T "
                + "--upload-file", onlyGET),
        PastedOption("-I --head", plan), PastedOption("-i --include", plan), PastedOption("-D --dump-header", plan),
        PastedOption("-r --range", ranges), PastedOption("-E --cert --key --pass --cert-type", certificates),
        PastedOption("--capath", .refused("use --ca-file FILE")), PastedOption("-c --cookie-jar", jar),
        PastedOption("-m --max-time", .refused("write timeout SECONDS ferry …: what was received is kept")),
        PastedOption("-w --write-out", .refused("use --json")),
        PastedOption(
            "-z --time-cond --etag-save --etag-compare", .refused("with -o FILE an unchanged file is not fetched again")
        ),
        PastedOption("--netrc-file", .refused("write NETRC=FILE ferry get --netrc")),
        PastedOption("--location-trusted", .refused("use -u USER@HOST for each host")),
        PastedOption(
            "-U --proxy-user --preproxy --socks5 --socks5-hostname",
            .refused("use --proxy http://USER:PASSWORD@HOST:PORT or socks5://HOST:PORT")),
        PastedOption("--stderr --trace --trace-ascii", log),
        PastedOption("--interface --resolve --connect-to --dns-servers --unix-socket", route),
        PastedOption("--remove-on-error", .refused("what was received is kept, so that the next run continues")),
    ]

    private static let wget: [PastedOption] = [
        PastedOption("-O --output-document", .role(.file)), PastedOption("-P --directory-prefix", .role(.prefix)),
        PastedOption("-N --timestamping", .role(.nameOfURL)), PastedOption("--no-timestamping", accepted),
        PastedOption("-c --continue", .role(.goesOn)), PastedOption("-nc --no-clobber", .role(.noClobber)),
        PastedOption("--content-disposition", .role(.nameOfServer)), PastedOption("--trust-server-names", accepted),
        PastedOption("--unlink", accepted), PastedOption("--no-use-server-timestamps", .words(["--no-mtime"])),
        PastedOption("--no-if-modified-since", accepted), PastedOption("--restrict-file-names", acceptedValue),
        PastedOption("-i --input-file", .option("-i")), PastedOption("--input-metalink", .option("-i")),
        PastedOption("-q --quiet", .role(.quiet)), PastedOption("-nv --no-verbose", .words(["-q"])),
        PastedOption("-v --verbose", .words(["-v"])), PastedOption("-d --debug", .words(["-v"])),
        PastedOption("-S --server-response", .words(["-v"])), PastedOption("--show-progress", .role(.showsProgress)),
        PastedOption("--progress", acceptedValue), PastedOption("--report-speed", acceptedValue),
        PastedOption("-t --tries", .role(.tries)), PastedOption("--retry-connrefused", .role(.retriesRefused)),
        PastedOption("--retry-on-host-error", accepted),
        PastedOption("--retry-on-http-error --waitretry", acceptedValue),
        PastedOption("-T --timeout", .option("--stall-timeout")),
        PastedOption("--read-timeout", .option("--stall-timeout")),
        PastedOption("--connect-timeout", .option("--connect-timeout")), PastedOption("--dns-timeout", acceptedValue),
        PastedOption("-w --wait", .seconds("--host-delay")), PastedOption("--random-wait", accepted),
        PastedOption("--limit-rate", .size("--limit-rate")), PastedOption("-U --user-agent", .option("-A")),
        PastedOption("--header", .role(.field)), PastedOption("--referer", .option("-e")),
        PastedOption("--user --http-user", .role(.user)),
        PastedOption("--password --http-password --http-passwd", .role(.password)),
        PastedOption("--ask-password --auth-no-challenge", accepted),
        PastedOption("--load-cookies", .option("--load-cookies")),
        PastedOption("--no-check-certificate", .words(["-k"])), PastedOption("--check-certificate", accepted),
        PastedOption("--ca-certificate", .option("--ca-file")),
        PastedOption("--no-proxy", .words(["--proxy", "none"])),
        PastedOption("-4 --inet4-only", .words(["-4"])), PastedOption("-6 --inet6-only", .words(["-6"])),
        PastedOption("--prefer-family --compression", acceptedValue),
        PastedOption("--max-redirect", .option("--max-redirects")),
        PastedOption("--no-cache", .words(["-H", "Cache-Control: no-cache"])),
        PastedOption(
            "--no-dns-cache --no-http-keep-alive --no-hsts --no-iri --no-netrc --no-config --no-glob", accepted),
        PastedOption("--method", .role(.method)), PastedOption("-e --execute", .role(.execute)),
        PastedOption("-r --recursive", .role(.recursive)), PastedOption("-m --mirror", .role(.mirror)),
        PastedOption("-l --level", .role(.level)), PastedOption("-np --no-parent", accepted),
        PastedOption("-nH --no-host-directories", .role(.noHost)), PastedOption("--cut-dirs", .role(.cutDirectories)),
        PastedOption("-nd --no-directories", .role(.noDirectories)),
        PastedOption("-x --force-directories", .role(.forceDirectories)), PastedOption("-A --accept", .role(.accept)),
        PastedOption("-R --reject", .role(.reject)), PastedOption("-L --relative", accepted),
        PastedOption("--post-data --post-file --body-data --body-file", onlyGET), PastedOption("--spider", plan),
        PastedOption("--start-pos", ranges), PastedOption("--certificate --private-key", certificates),
        PastedOption("--ca-directory", .refused("use --ca-file FILE")),
        PastedOption("--save-cookies --keep-session-cookies", jar),
        PastedOption("-o --output-file -a --append-output", log),
        PastedOption("-b --background", .refused("use ferry add URL")),
        PastedOption("--bind-address", route), PastedOption("-k --convert-links", pages),
        PastedOption("-p --page-requisites -E --adjust-extension -K --backup-converted", pages),
        PastedOption("-H --span-hosts -D --domains", pages),
        PastedOption(
            "--proxy-user --proxy-password",
            .refused("use --proxy http://USER:PASSWORD@HOST:PORT or socks5://HOST:PORT")),
        PastedOption("-Q --quota", .refused("use --max-size SIZE, which is for each file")),
        PastedOption("-B --base -F --force-html", .refused("a list has one URL on each line")),
    ]
}
