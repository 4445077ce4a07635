package import FerryTerminal

extension ChineseHelp {
    /// The help of `ferry browser`.
    package static let browser = ChineseHelp([
        "Let the extension in your browsers hand downloads to the daemon.": "让浏览器中的扩展把下载交给后台服务。",
        """
        install writes a small file for each browser, which lets Ferry's extension start this program; uninstall removes \
        it; status shows whether it is there, and exits with 0 if it is.
        """: "install 为每个浏览器写入一个小文件，使 Ferry 的扩展可以启动本程序；uninstall 移除它；status 显示它是否存在，存在时退出码为 0。",
        "chromium, chrome, edge, brave, vivaldi, firefox or librewolf (default: those that have run for this user).":
            "chromium、chrome、edge、brave、vivaldi、firefox 或 librewolf（默认：该用户运行过的浏览器）。",
    ])
}
