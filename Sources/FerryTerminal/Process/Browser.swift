import Ferry

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The user's web browser.
package enum Browser {
    /// Opens a file. Returns `false` if there is no desktop or opener, or if the opener fails.
    ///
    /// Takes a file instead of a URL, because every user can read the arguments of the opener and the browser.
    package static func open(file path: String) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        guard let opener = Platform.opener(environment) else { return false }
        // allow(environment): the user's own command, in the foreground, as a shell would start it.
        var spawning = Spawning([opener, URL(fileURLWithPath: path).absoluteString], environment: environment)
        spawning.input = 0
        return (try? spawning.start()).map { Spawning.wait(for: $0) == 0 } ?? false
    }
}
