package import FerryTerminal

extension ChineseHelp {
    /// The help of `ferry aria2c`, and of the options of `ferry serve` for aria2's interface.
    package static let aria2 = ChineseHelp([
        "Download with the arguments, output and exit status of aria2c.": "以 aria2c 的参数、输出和退出状态下载。",
        """
        For HTTP and HTTPS. A link to the binary with the name aria2c does the same: programs that start aria2c use Ferry \
        then. ferry aria2c -h lists the options; docs/aria2c.md says what becomes of each.
        """: "用于 HTTP 和 HTTPS。以 aria2c 为名的链接效果相同：启动 aria2c 的程序便会使用 Ferry。ferry aria2c -h 列出选项；各选项的作用见 docs/aria2c.md。",
        "Arguments of aria2c.": "aria2c 的参数。",
        """
        Serve aria2's RPC interface on this port of 127.0.0.1 and ::1, for programs that use aria2; 0 is any port that is \
        free, 6800 is usual.
        """: "在 127.0.0.1 和 ::1 的此端口提供 aria2 的 RPC 接口，供使用 aria2 的程序使用；0 表示任一空闲端口，通常为 6800。",
        """
        The token of that interface, or @FILE for the private file that has it (default: a generated one, kept as \
        aria2-secret beside the state).
        """: "该接口的令牌，或以 @FILE 给出含有令牌的私有文件（默认：自动生成，以 aria2-secret 保存在状态旁）。",
        "An origin whose pages may use that interface, for example http://127.0.0.1:8080 (repeatable).":
            "其网页可以使用该接口的来源，例如 http://127.0.0.1:8080（可重复）。",
    ])
}
