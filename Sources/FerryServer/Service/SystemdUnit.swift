/// The systemd user unit of the daemon. Pure.
package enum SystemdUnit {
    package static let name = "ferry.service"

    /// Returns the unit file for a program at an absolute path.
    ///
    /// The unit does not restart after errors that persist, unusable settings (2) or another daemon (9), and no
    /// longer after repeated failures. The sandboxing options need no privileges and affect neither the daemon nor
    /// completion commands. The memory limits apply to both together; with `OOMPolicy=continue` a command that exceeds
    /// them is killed alone.
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

    /// Quotes a path as one word of a command line (systemd.service(5), "Command lines").
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
