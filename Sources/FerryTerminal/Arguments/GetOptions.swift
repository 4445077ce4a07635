/// The arguments of `ferry get`, not yet parsed.
package struct GetOptions: Sendable, Hashable {
    /// URLs, part files and directories.
    package var items: [String] = []
    package var output: String?
    package var directory: String?
    /// Paths of URL lists; `-` is standard input.
    package var lists: [String] = []
    package var parallel = 3
    package var connections = 16
    /// `ALG:HEX` or `@URL`.
    package var checksum: String?
    package var mirrors: [String] = []
    /// `K: V` or `@FILE`.
    package var headers: [String] = []
    /// `USER` or `USER:PASSWORD`; without a URL also `USER@HOST`.
    package var user: String?
    package var netrc = false
    package var cookieFile: String?
    package var userAgent: String?
    package var referer: String?
    package var limitRate: String?
    package var maxSize: String?
    package var connectTimeout: String?
    package var stallTimeout: String?
    /// A number or `inf`.
    package var retries: String?
    package var minFree: String?
    package var proxy: String?
    package var caFile: String?
    package var insecure = false
    package var allowDowngrade = false
    package var noPrivate = false
    package var ipv4 = false
    package var ipv6 = false
    package var onConflict: String?
    package var strict = false
    package var unproven = false
    package var resumeUnproven = false
    package var noRestart = false
    package var acceptHTML = false
    package var noFsync = false
    package var sharedGroup = false
    package var json = false
    package var print0 = false
    package var noProgress = false
    package var quiet = false
    package var verbose = false

    package init() {}
}
