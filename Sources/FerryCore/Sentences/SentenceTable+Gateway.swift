extension SentenceTable {
    /// The patterns of `ferry gateway`; see ``chinesePatterns``.
    static let gatewayPatterns: [String: String] = [
        "{0} is no action on the gateway: there are {1}": "{0} 不是对网关的操作：可用的有 {1}",
        "names, --older-than and --all are for ferry gateway purge": "名称、--older-than 和 --all 用于 ferry gateway purge",
        "ferry gateway purge needs names, --older-than TIME or --all, one of them":
            "ferry gateway purge 需要名称、--older-than TIME 或 --all，三者取一",
        "the cache of the gateway is empty": "网关的缓存是空的",
        "remove {0} files with {1} from the gateway's cache?": "从网关缓存中移除 {0} 个文件（{1}）？",
        "removed {0} files with {1}": "已移除 {0} 个文件（{1}）",
        "{0} stays, as it is in use": "{0} 正在使用，予以保留",
        "damaged: {0}: removed": "损坏：{0}：已移除",
        "{0} files are intact ({1}), {2} were damaged, {3} have no digest":
            "{0} 个文件完好（{1}），{2} 个已损坏，{3} 个没有校验值",
        "{0} of {1} in {2} files, {3} unfinished, {4} in use": "{2} 个文件共 {0}（上限 {1}），{3} 个未完成，{4} 个使用中",
        "{0} free, of which {1} stay free": "剩余 {0}，其中 {1} 保持空闲",
    ]

    /// The help of `ferry gateway`, and of the daemon's options for users and the log of the gateway; see
    /// ``chineseHelp``.
    static let gatewayHelp: [String: String] = [
        "Show, purge or verify the cache of the daemon's gateway.": "显示、清理或校验后台服务网关的缓存。",
        """
        usage says how much the cache holds, and of how much; list shows its files, the one that was used last first. purge \
        removes files that no client reads. verify reads every file and compares it with its digest: a damaged one is \
        removed, and fetched again when a client asks for it; the exit code is then 7.
        """:
            """
        usage 显示缓存的用量和上限；list 列出其中的文件，最近使用的在前。purge 移除没有客户端在读取的文件。\
        verify 读取每个文件并与其校验值比较：损坏的会被移除，客户端再次请求时重新下载；此时退出代码为 7。
        """,
        "usage, list, purge or verify; without it the usage.": "usage、list、purge 或 verify；不给出时显示用量。",
        "Names of files, identifiers, or their beginnings.": "文件名、标识符或其开头。",
        "Purge files that have not been used for this time.": "移除在这段时间内没有使用过的文件。",
        "Purge all files.": "移除全部文件。",
        "Do not ask, also on a terminal.": "不询问，在终端上也是。",
        """
        Other users of this machine whose programs may use the gateway, separated by commas, such as _apt for apt-get; all \
        for every user (repeatable).
        """: "本机上其程序可以使用网关的其他用户，以逗号分隔，例如 apt-get 的 _apt；all 表示所有用户（可重复）。",
        "Log each request to the gateway: user, name, status, bytes, and whether the cache had it.":
            "记录发给网关的每个请求：用户、名称、状态、字节数，以及缓存中是否已有。",
    ]
}
