/// One parser of what servers, files and users say, and what must hold of its answer whatever bytes it is given.
///
/// `make fuzz` makes up inputs for it; the tests replay those that are kept in `Fuzz/Corpus`. A check is pure: no I/O, no
/// clock, no randomness, so that an input that breaks a promise breaks it again.
public struct FuzzTarget: Sendable, Hashable, CustomStringConvertible {
    /// What it is called, as is its folder in `Fuzz/Corpus`: lower-case words with dashes.
    public let name: String
    private let body: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.body = body
    }

    /// Feeds the parser; throws when something that must hold does not.
    public func check(_ input: [UInt8]) throws(BrokenPromise) { try body(input) }

    public var description: String { name }

    public static func == (left: FuzzTarget, right: FuzzTarget) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// All of them, by name.
    public static let all: [FuzzTarget] = [
        FuzzTarget("arguments", arguments),
        FuzzTarget("auth-challenge", authChallenge),
        FuzzTarget("checksum-list", checksumList),
        FuzzTarget("content-disposition", contentDisposition),
        FuzzTarget("content-range", contentRange),
        FuzzTarget("cookie-file", cookieFile),
        FuzzTarget("destination", destination),
        FuzzTarget("digest-field", digestField),
        FuzzTarget("gb18030", gb18030),
        FuzzTarget("http-date", httpDate),
        FuzzTarget("journal", journal),
        FuzzTarget("journal-record", journalRecord),
        FuzzTarget("netrc", netrc),
        FuzzTarget("page", page),
        FuzzTarget("response-head", responseHead),
        FuzzTarget("resume-data", resumeData),
        FuzzTarget("set-cookie", setCookie),
        FuzzTarget("shell-word", shellWord),
        FuzzTarget("url", url),
        FuzzTarget("url-list", urlList),
    ]
}
