import Foundation

/// The user's web browser.
package enum Browser {
    /// Opens a file. Returns false without a desktop or an opener.
    ///
    /// Takes a file instead of a URL, because every user can read the arguments of the opener and the browser.
    package static func open(file path: String) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        guard let opener = Platform.opener(environment) else { return false }
        // allow(environment): the user's own command, in the foreground, as a shell would start it.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [URL(fileURLWithPath: path).absoluteString]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        } catch { return false }
    }
}
