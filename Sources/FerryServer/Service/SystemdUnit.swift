/// The unit that lets systemd run the daemon for a user. Pure text.
package enum SystemdUnit {
    package static let name = "ferry.service"

    /// The unit file for a program at an absolute path.
    ///
    /// It is not started again after what does not change by itself: unusable settings (2), another daemon (9).
    package static func text(program: String) -> String {
        """
        [Unit]
        Description=Ferry downloads
        Documentation=man:ferry(1)

        [Service]
        Type=simple
        ExecStart=\(quoted(program)) serve
        Restart=on-failure
        RestartSec=2
        RestartPreventExitStatus=2 9
        TimeoutStopSec=20
        NoNewPrivileges=yes

        [Install]
        WantedBy=default.target

        """
    }

    /// As one word of a command line (systemd.service(5), "Command lines").
    static func quoted(_ path: String) -> String {
        var text = "\""
        for character in path {
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case "%": text += "%%"
            case "$": text += "$$"
            default: text.append(character)
            }
        }
        return text + "\""
    }
}
