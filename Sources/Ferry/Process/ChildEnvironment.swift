/// Which variables of our own environment a program that we start gets: those on a list, and nothing else. A daemon outlives
/// the app that started it and starts the apps of others; what one app was given (tokens, passwords) is not for them.
///
/// Pure: it is asked where a program is started, with the environment of now.
package enum ChildEnvironment {
    /// For the daemon, which connects through the user's proxies with their passwords, and has settings of its own.
    package static func daemon(from own: [String: String]) -> [String: String] {
        own.filter { name, _ in
            isCommon(name) || proxies.contains(name) || name.utf8.hasPrefix("FERRY_") && !announcements.contains(name)
        }
    }

    /// For what the daemon starts (apps of sessions, commands after a download), and for tools of the system: of the proxies
    /// those without a password, and where the daemon is.
    package static func command(from own: [String: String]) -> [String: String] {
        own.filter { name, value in
            isCommon(name) || places.contains(name)
                || proxies.contains(name) && !value.utf8.contains(UInt8(ascii: "@"))
        }
    }

    private static func isCommon(_ name: String) -> Bool {
        common.contains(name) || name.utf8.hasPrefix("LC_") || name.utf8.hasPrefix("XDG_")
    }

    /// Who the user is, where programs and certificates are, language, time zone; where the desktop and its bus are, for
    /// apps that show windows. None of them is a secret: `XAUTHORITY` and `DBUS_SESSION_BUS_ADDRESS` name files.
    private static let common: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TZDIR", "TMPDIR", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    /// As ``FerryCore/ProxySettings`` reads them.
    private static let proxies: Set<String> = [
        "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    ]

    /// Where a client finds the daemon.
    private static let places: Set<String> = ["FERRY_BINARY", "FERRY_CONFIG", "FERRY_SOCKET", "FERRY_STATE_DIR"]

    /// What a command is told of the download that it was started for: of no use to a daemon that it starts.
    private static let announcements: Set<String> = ["FERRY_SESSION", "FERRY_ID", "FERRY_PATH", "FERRY_PROOF"]
}
