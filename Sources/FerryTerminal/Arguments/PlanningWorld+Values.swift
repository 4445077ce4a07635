import Ferry
import FerryCore
import HTTPTypes

/// Parsers for the values of options, whose names begin with dashes, and of settings, whose names end with `=`.
extension PlanningWorld {
    static func proxy(_ text: String, option: String) throws(UsageError) -> ProxyChoice {
        try value(option) { () throws(TextError) in try ProxyChoice(parsing: text) }
    }

    static func userAgent(_ text: String, option: String) throws(UsageError) -> String {
        try field("User-Agent", text, option: option).value
    }

    static func duration(_ text: String, option: String) throws(UsageError) -> Duration {
        let duration = try value(option) { () throws(TextError) in try DurationText.parse(text) }
        guard duration > .zero else { throw UsageError("\(option) needs more than 0 seconds") }
        return duration
    }

    /// Returns a number of bytes per second. Refuses very small values, which are most likely missing a unit.
    static func rate(_ text: String, option: String) throws(UsageError) -> ByteCount {
        let rate = try value(option) { () throws(TextError) in try SizeText.parseRate(text) }
        if 1..<1000 ~= rate, Int(text) != nil {
            let given = option + (option.utf8.hasSuffix("=") ? "" : " ") + text
            throw UsageError(
                "\(given) is \(text) bytes per second: write a unit, as in \(given)M, or \(text)B")
        }
        return rate
    }

    /// Returns the maximum number of consecutive retries: a number, or `inf`.
    package static func retries(_ text: String, option: String) throws(UsageError) -> Int {
        if text == "inf" { return DownloadRequest.mostRetries }
        guard let number = Int(text), 0...DownloadRequest.mostRetries ~= number else {
            throw UsageError("\(option) needs a number or inf, not \(TextError.quote(text))")
        }
        return number
    }

    /// Returns the text of a certificate file.
    func certificates(_ path: String, option: String) throws(UsageError) -> String {
        let text = try read(path, what: "CA file")
        guard PEMText.holdsCertificate(text) else {
            throw UsageError("\(option): \(path) holds no certificate in PEM form")
        }
        guard text.utf8.count <= ConnectionRules.mostTextBytes else {
            throw UsageError("\(option): \(path) is larger than 1 MiB; SSL_CERT_FILE may name a file of any size")
        }
        return text
    }

    /// Returns the cookies of a file.
    func cookies(_ path: String, option: String) throws(UsageError) -> CookieJar {
        let jar = CookieJar(netscapeFile: try read(path, what: "cookie file"))
        guard jar.count > 0 || jar.skippedLines.isEmpty else {
            throw UsageError(
                "\(option): \(path) is not a Netscape cookie file: "
                    + "a line has seven tab-separated fields")
        }
        return jar
    }
}
