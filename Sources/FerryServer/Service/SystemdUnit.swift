/// The unit that lets systemd run the daemon for a user. Pure text.
package enum SystemdUnit {
    package static let name = "ferry.service"

    /// The unit file for a program at an absolute path.
    ///
    /// It is not started again after what does not change by itself: unusable settings (2), another daemon (9); nor for
    /// ever, when it ends again and again. What systemd takes from it is what neither a daemon nor a command after a
    /// download needs, and what it may take without privileges of its own. The limits of memory are for the daemon and
    /// these commands together: a command that goes beyond ends alone.
    package static func text(program: String, isConfined: Bool = false) -> String {
        """
        [Unit]
        Description=Ferry downloads
        Documentation=man:ferry(1)
        StartLimitIntervalSec=60
        StartLimitBurst=5

        [Service]
        Type=simple
        ExecStart=\(quoted(program)) serve\(isConfined ? " --confine" : "")
        Restart=on-failure
        RestartSec=2
        RestartPreventExitStatus=2 9
        TimeoutStopSec=20
        UMask=0077
        NoNewPrivileges=yes
        LockPersonality=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        LimitCORE=0
        MemoryHigh=1G
        MemoryMax=2G
        OOMPolicy=continue

        [Install]
        WantedBy=default.target

        """
    }

    /// As one word of a command line (systemd.service(5), "Command lines").
    static func quoted(_ path: String) -> String {
        var text = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in path.unicodeScalars {
            switch scalar {
            case "\"", "\\": text.append(contentsOf: ["\\", scalar])
            case "%", "$": text.append(contentsOf: [scalar, scalar])
            default: text.append(scalar)
            }
        }
        return String(text) + "\""
    }
}
