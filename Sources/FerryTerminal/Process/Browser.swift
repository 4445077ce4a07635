import Foundation

/// The user's browser.
package enum Browser {
    /// Opens an address in it; false where there is no desktop, or nothing that opens addresses.
    package static func open(_ address: String) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        guard let opener = Platform.opener(environment) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        } catch { return false }
    }
}
