import ArgumentParser
import Ferry
import FerryCore

/// A browser that can start the host.
package enum HostBrowser: String, Sendable, Hashable, CaseIterable, Codable, ExpressibleByArgument {
    case chromium, chrome, edge, brave, vivaldi, firefox, librewolf

    /// The name that users see.
    package var title: String {
        switch self {
        case .chromium: "Chromium"
        case .chrome: "Google Chrome"
        case .edge: "Microsoft Edge"
        case .brave: "Brave"
        case .vivaldi: "Vivaldi"
        case .firefox: "Firefox"
        case .librewolf: "LibreWolf"
        }
    }

    /// Whether the browser uses Chromium's extensions, whose identifiers are derived from their keys.
    package var isChromium: Bool { self != .firefox && self != .librewolf }

    /// The directory of the browser's profiles, which exists once the browser has run.
    package func profiles(home: String, environment: [String: String]) -> String {
        let configured = environment["XDG_CONFIG_HOME"].flatMap { Paths.isAbsolute($0) ? $0 : nil }
        return Self.profiles(of: self, home: home, configuration: configured ?? home + "/.config")
    }

    /// The path of the manifest of the host.
    package func manifest(home: String, environment: [String: String]) -> String {
        let name = isChromium ? "NativeMessagingHosts" : Self.geckoDirectory
        return "\(profiles(home: home, environment: environment))/\(name)/\(HostManifest.name).json"
    }
}

/// The manifest that lets a browser start this program as the host of the extension.
package struct HostManifest: Codable, Sendable, Hashable {
    /// The name by which the extension connects to the host.
    package static let name = "ferry.browser"
    /// The identifier of the extension in Chromium, derived from the `key` in its manifest.
    package static let chromiumExtension = "nbaokfogiejebakdlejbefnonifigcef"
    /// The identifier of the extension in Firefox, from its manifest.
    package static let firefoxExtension = "browser@ferry.invalid"

    package var name = Self.name
    package var description = "Hands downloads of the browser to Ferry"
    /// The absolute path of the program, which the browser starts with arguments of its choice.
    package var path: String
    package var type = "stdio"
    package var allowedOrigins: [String]?
    package var allowedExtensions: [String]?

    private enum CodingKeys: String, CodingKey {
        case name, description, path, type
        case allowedOrigins = "allowed_origins"
        case allowedExtensions = "allowed_extensions"
    }

    package init(program path: String, for browser: HostBrowser) {
        self.path = path
        if browser.isChromium {
            allowedOrigins = [Self.origin + "/"]
        } else {
            allowedExtensions = [Self.firefoxExtension]
        }
    }

    private static let scheme = "chrome-extension://"
    private static let origin = scheme + chromiumExtension

    /// Returns the command line for the arguments that a browser passes. Other arguments are returned unchanged.
    ///
    /// Chromium passes the origin of the extension and its own options. Firefox passes the path of the manifest and the
    /// identifier of the extension.
    package static func command(_ arguments: [String]) -> [String] {
        guard let first = arguments.first else { return arguments }
        if first.utf8.hasPrefix(scheme) { return [hostCommand, first] }
        // allow(names): the manifest of a browser, in the browser's own directory.
        if arguments.count == 2, Paths.isAbsolute(first), Paths.name(of: first) == name + ".json" {
            return [hostCommand, arguments[1]]
        }
        return arguments
    }

    /// The name of the command that runs the host.
    package static let hostCommand = "browser-host"

    /// Whether the browser has started the host for the extension of this project.
    package static func isKnown(_ caller: String) -> Bool {
        caller == firefoxExtension || caller == origin + "/" || caller == origin
    }
}
