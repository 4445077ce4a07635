import ArgumentParser
import Ferry
import FerryCore
package import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs `ferry browser`.
package struct BrowserRun: Sendable {
    package enum Action: String, ExpressibleByArgument, CaseIterable, Sendable { case install, uninstall, status }

    private let installer: BrowserInstaller
    private let console: Console
    private let json: Bool

    package init(_ installer: BrowserInstaller, console: Console, json: Bool) {
        (self.installer, self.console, self.json) = (installer, console, json)
    }

    private struct Line: Encodable {
        var browser: HostBrowser
        var status: BrowserInstaller.Status
        var manifest: String
    }

    /// - Parameter named: The browsers; empty for all browsers that this user has.
    package func run(_ action: Action, _ named: [HostBrowser]) throws -> FerryTerminal.ExitCode {
        let present = HostBrowser.allCases.filter { installer.status(of: $0) != .absent }
        let browsers = named.isEmpty ? present : named
        guard !browsers.isEmpty else {
            let names = HostBrowser.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("no browser of this user was found; name one of \(names)", code: .notFound)
        }
        for browser in browsers {
            switch action {
            case .install: try installer.install(browser)
            case .uninstall: _ = try installer.uninstall(browser)
            case .status: break
            }
            show(browser)
        }
        if action == .install {
            let text: Reason = "now add the extension to the browser: see docs/browser.md"
            console.message("ferry: " + text.local)
        }
        let isThere = browsers.contains { installer.status(of: $0) == .installed }
        return isThere == (action != .uninstall) ? .done : .internal
    }

    private func show(_ browser: HostBrowser) {
        let status = installer.status(of: browser)
        let path = installer.manifest(of: browser)
        guard !json else {
            return console.result(
                JSONLine.of(Line(browser: browser, status: status, manifest: path)).text + "\n")
        }
        let text: Reason =
            switch status {
            case .absent: "\(browser.title): not found"
            case .missing: "\(browser.title): not installed"
            case .installed: "\(browser.title): installed (\(path))"
            case .other: "\(browser.title): installed for another program; ferry browser install replaces it (\(path))"
            }
        console.result(text.shown + "\n")
    }
}

extension Program {
    /// Runs `ferry browser`.
    package static func browser(_ action: BrowserRun.Action, _ browsers: [HostBrowser], json: Bool) async
        -> FerryTerminal.ExitCode
    {
        await remote("browser", json: json) { run in
            let installer = BrowserInstaller(
                program: OwnProgram.path, environment: ProcessInfo.processInfo.environment)
            return try BrowserRun(installer, console: run.console, json: json).run(action, browsers)
        }
    }

    /// Runs the host that a browser has started for the extension `caller`. Only messages are written to standard output.
    package static func browserHost(_ caller: String) async -> FerryTerminal.ExitCode {
        guard HostManifest.isKnown(caller) else {
            return usage(
                UsageError("\(TextError.quote(caller)) is not Ferry's extension"), command: "browser", json: false)
        }
        return await BrowserHost { Browser.open(file: $0) }.run(from: 0, to: 1)
    }
}
