import FerryCore

/// What `--user` says: a name, a password when there is one, and the server that they are for.
struct UserWord: Sendable, Hashable {
    var user: String
    /// `nil`: it is asked for.
    var password: String?
    /// `nil` where nothing names it.
    var server: Origin?

    /// `NAME` or `NAME:PASSWORD`: an @ in it is a part of the name or of the password.
    init(_ text: String) throws(UsageError) {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        guard !text.isEmpty else { throw UsageError("--user needs USER or USER:PASSWORD") }
        user = String(text[..<(colon ?? text.endIndex)])
        password = colon.map { String(text[text.utf8.index(after: $0)...]) }
    }

    /// `NAME@HOST`, `NAME:PASSWORD@HOST`, or one of the above. What follows the last @ is the server: `HOST` or `HOST:PORT`
    /// over https, `http://HOST` or `http://HOST:PORT` over http.
    ///
    /// The error does not show the server: it is a part of the password of who meant none.
    init(namingServer text: String) throws(UsageError) {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            try self.init(text)
            return
        }
        let name = String(text[..<at])
        let host = String(text[text.utf8.index(after: at)...])
        guard !name.isEmpty, let server = Origin(host.utf8.contains("://") ? host : "https://" + host) else {
            throw UsageError("--user: without a URL it is NAME@HOST, and what follows the last @ is no host")
        }
        try self.init(name)
        self.server = server
    }
}
