/// What a browser is called in the list of tokens, by its `User-Agent` (RFC 9110 §10.1.5): "Firefox on Linux".
///
/// Made of words that stand here alone; a program that is not known is shown by the name that it gives itself, shortened.
package enum BrowserName {
    /// The most characters of a name.
    package static let mostCharacters = 40

    // The order counts: Edge and Opera name Chrome too, and Chrome names Safari.
    private static let browsers = [
        ("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"), ("Linux", "Linux"),
    ]

    /// The name; of a missing or empty `User-Agent` "Unknown".
    package static func name(of userAgent: String?) -> String {
        let userAgent = userAgent ?? ""
        let system = systems.first { userAgent.contains($0.0) }?.1
        guard let browser = browsers.first(where: { userAgent.contains($0.0) })?.1 else {
            let product = userAgent.unicodeScalars.prefix { (0x21..<0x7F).contains($0.value) }.prefix(mostCharacters)
            return product.isEmpty ? "Unknown" : String(String.UnicodeScalarView(product))
        }
        return system.map { "\(browser) on \($0)" } ?? browser
    }
}
