/// The display name of a browser in the list of tokens, from its `User-Agent` (RFC 9110 §10.1.5): "Firefox on Linux".
///
/// Known browsers get a name from the tables below; other programs show their own product name, shortened.
package enum BrowserName {
    /// The maximum length of a name, in characters.
    package static let mostCharacters = 40

    // The order matters: Edge and Opera also name Chrome, and Chrome also names Safari.
    private static let browsers = [
        ("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"), ("Linux", "Linux"),
    ]

    /// Returns the display name; "Unknown" for a missing or empty `User-Agent`.
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
