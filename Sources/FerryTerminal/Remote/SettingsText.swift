package import FerryAPI
import FerryCore

/// Formats the daemon's settings in the syntax of `ferry set`.
package enum SettingsText {
    package static func lines(_ settings: SettingsBody) -> [String] {
        func flag(_ value: Bool?) -> String? { value.map { $0 ? "on" : "off" } }
        let retry = settings.retriesFailedAfter.map { seconds in
            Int64(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
        }
        let pairs: [(name: String, value: String?)] = [
            ("max-concurrent", settings.maxConcurrentDownloads.map(String.init)),
            ("limit", settings.rateLimit.map { "\($0)" } ?? "none"),
            ("connections-per-host", settings.connectionsPerHost.map(String.init)),
            ("metered", flag(settings.allowsMetered)),
            ("constrained", flag(settings.allowsConstrained)),
            ("network", settings.networkAssumption ?? "auto"),
            ("retry-failed", retry ?? "never"),
            ("min-free", settings.minFreeBytes.map { "\($0)" } ?? "auto"),
            ("proxy", settings.proxy ?? "auto"),
            ("dir", PrintableText.escape(settings.directory)),
        ]
        return pairs.compactMap { pair in pair.value.map { pair.name + "=" + $0 } }
    }
}
