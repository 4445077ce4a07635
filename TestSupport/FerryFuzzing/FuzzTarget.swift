/// One parser of input from servers, files and users, and the invariants of its result for any bytes.
///
/// `make fuzz` generates inputs; the tests replay those in `Fuzz/Corpus`. A check is pure: without I/O, clock and
/// randomness, a failure is reproducible.
public struct FuzzTarget: Sendable, Hashable, CustomStringConvertible {
    /// The name of the target and of its folder in `Fuzz/Corpus`: lower-case words with dashes.
    public let name: String
    private let body: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.body = body
    }

    /// Passes input to the parser. Throws if an invariant does not hold.
    public func check(_ input: [UInt8]) throws(BrokenPromise) { try body(input) }

    public var description: String { name }

    public static func == (left: FuzzTarget, right: FuzzTarget) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// All targets, by name.
    public static let all: [FuzzTarget] = [
        FuzzTarget("archive-index", archiveIndex),
        FuzzTarget("arguments", arguments),
        FuzzTarget("aria2-call", aria2Call),
        FuzzTarget("aria2-control", aria2Control),
        FuzzTarget("auth-challenge", authChallenge),
        FuzzTarget("browser-link", browserLink),
        FuzzTarget("checksum-list", checksumList),
        FuzzTarget("content-disposition", contentDisposition),
        FuzzTarget("content-range", contentRange),
        FuzzTarget("cookie-file", cookieFile),
        FuzzTarget("destination", destination),
        FuzzTarget("digest-field", digestField),
        FuzzTarget("expanded-file", expandedFile),
        FuzzTarget("gateway-link", gatewayLink),
        FuzzTarget("gateway-path", gatewayPath),
        FuzzTarget("gb18030", gb18030),
        FuzzTarget("html-tag", htmlTag),
        FuzzTarget("http-date", httpDate),
        FuzzTarget("index-page", indexPage),
        FuzzTarget("journal", journal),
        FuzzTarget("journal-record", journalRecord),
        FuzzTarget("json-structure", jsonStructure),
        FuzzTarget("link-field", linkField),
        FuzzTarget("links", links),
        FuzzTarget("manifest-line", manifestLine),
        FuzzTarget("metalink", metalink),
        FuzzTarget("netrc", netrc),
        FuzzTarget("page", page),
        FuzzTarget("raw-head", rawHead),
        FuzzTarget("response-head", responseHead),
        FuzzTarget("resume-data", resumeData),
        FuzzTarget("set-cookie", setCookie),
        FuzzTarget("set-list", setList),
        FuzzTarget("shell-word", shellWord),
        FuzzTarget("store", store),
        FuzzTarget("url", url),
        FuzzTarget("url-list", urlList),
        FuzzTarget("xml", xml),
    ]
}
