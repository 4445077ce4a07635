import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The environment variables that a started program inherits: a fixed list. The daemon outlives the app that started it and
/// starts programs of other apps, and one app's tokens and passwords must not leak to them.
///
/// The functions are called with the current environment whenever a program is started. A started program may have another
/// working directory, so it inherits the daemon's paths as absolute ones.
package enum ChildEnvironment {
    /// Variables for the daemon, which uses the user's proxies with their passwords and has `FERRY_` settings of its
    /// own.
    package static func daemon(
        from own: [String: String], in directory: String = WorkingDirectory.path
    ) -> [String: String] {
        let environment = own.filter { name, _ in
            isCommon(name) || proxies.contains(name) || name.utf8.hasPrefix("FERRY_") && !announcements.contains(name)
        }
        return withAbsolutePlaces(environment, in: directory)
    }

    /// Variables for programs that the daemon starts (session apps, commands after a download) and for system tools:
    /// proxies only without a password, and the daemon's paths.
    package static func command(
        from own: [String: String], in directory: String = WorkingDirectory.path
    ) -> [String: String] {
        let environment = own.filter { name, value in
            isCommon(name) || places.contains(name)
                || proxies.contains(name) && !value.utf8.contains(UInt8(ascii: "@"))
        }
        return withAbsolutePlaces(environment, in: directory)
    }

    /// Returns the path that a variable with one of the daemon's paths names, absolute: a relative path is below the working
    /// directory. `nil` if the variable is missing or empty.
    package static func place(
        _ name: String, in environment: [String: String], of directory: String = WorkingDirectory.path
    ) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : Paths.join(directory, $0) }
    }

    private static func withAbsolutePlaces(
        _ environment: [String: String], in directory: String
    ) -> [String: String] {
        let absolute = places.compactMap { name in place(name, in: environment, of: directory).map { (name, $0) } }
        return environment.merging(absolute) { $1 }
    }

    private static func isCommon(_ name: String) -> Bool {
        common.contains(name) || name.utf8.hasPrefix("LC_") || name.utf8.hasPrefix("XDG_")
    }

    /// User, search paths, certificates, language and time zone, and the desktop session for apps that show windows.
    /// None of them is a secret: `XAUTHORITY` and `DBUS_SESSION_BUS_ADDRESS` name files.
    private static let common: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TZDIR", "TMPDIR", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    /// The variables that ``FerryCore/ProxySettings`` reads.
    private static let proxies: Set<String> = [
        "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    ]

    /// The variables by which a client finds the daemon.
    private static let places: Set<String> = ["FERRY_BINARY", "FERRY_CONFIG", "FERRY_SOCKET", "FERRY_STATE_DIR"]

    /// Variables that describe a download to a command; a daemon started by that command must not inherit them.
    private static let announcements: Set<String> = [
        "FERRY_SESSION", "FERRY_ID", "FERRY_PATH", "FERRY_PROOF", "FERRY_NAME", "FERRY_REASON", "FERRY_MESSAGE",
    ]
}

/// The working directory of this process.
package enum WorkingDirectory {
    /// The absolute path; empty if the directory has been deleted, so that relative paths remain relative and fail.
    package static var path: String {
        guard let bytes = getcwd(nil, 0) else { return "" }
        defer { free(bytes) }
        // The kernel prefixes a directory outside this process's root with `(unreachable)`.
        return bytes.pointee == UInt8(ascii: "/") ? String(cString: bytes) : ""
    }
}
