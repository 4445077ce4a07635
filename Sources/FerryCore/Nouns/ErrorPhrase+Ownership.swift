extension ErrorPhrase.Key {
    /// Whose a file is, and what follows from that.
    var ofOwnership: (english: String, simplifiedChinese: String) {
        switch self {
        case .otherKind: ("it is a link, a directory or the like", "它是链接、目录或其他类型")
        case .othersFile:
            ("it belongs to user {0}, and Ferry runs as user {1}", "它属于用户 {0}，而 Ferry 以用户 {1} 的身份运行")
        case .usersFile:
            (
                "it belongs to user {0}, and Ferry runs as root: what was begun without sudo goes on without sudo",
                "它属于用户 {0}，而 Ferry 以 root 身份运行：未用 sudo 开始的下载，请不用 sudo 继续"
            )
        case .rootsFile:
            (
                "it belongs to root, and Ferry runs as user {0}: what was begun with sudo goes on with sudo",
                "它属于 root，而 Ferry 以用户 {0} 的身份运行：用 sudo 开始的下载，请用 sudo 继续"
            )
        case .severalNames: ("it has {0} names (hard links)", "它有 {0} 个名称（硬链接）")
        case .writableByGroup: ("group {0} can write to it", "组 {0} 可以写入它")
        case .writableByOthers: ("every user can write to it", "任何用户都可以写入它")
        case .notOurs: ("{0} is not used: {1}", "不使用 {0}：{1}")
        case .notOursHere:
            (
                "{0} is in the way: {1}; it is left as it is, and this file is called {2}: move it away to have its name",
                "{0} 占用了名称：{1}；它保持不变，此文件改名为 {2}；若要使用该名称，请先将其移走"
            )
        case .makeItYours:
            (
                "Nothing was changed. Move it away, or make it yours alone (chown, chmod go-w), and run it again.",
                "没有更改任何内容。请将其移走，或使其仅归您所有（chown、chmod go-w），然后重新运行。"
            )
        case .movedButUnproven:
            (
                "{0} was being moved to {1}, and nothing there proves to be it: go on with the one that is whole",
                "{0} 正被移动到 {1}，但那里没有可证实的内容：请用完整的那一个继续"
            )
        case .unknownPlace:
            (
                "the part file {0} is gone, and this session has put no download into its directory",
                "部分文件 {0} 已不存在，而此会话从未在该目录中放置下载"
            )
        case .beginInstead: ("Begin the download anew, with its URL.", "请用其网址重新开始下载。")
        default: ("", "")
        }
    }
}
