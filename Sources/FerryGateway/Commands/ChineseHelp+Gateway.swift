package import FerryTerminal

extension ChineseHelp {
    /// The help of `ferry gateway`, and of the options of `ferry serve` for the gateway.
    package static let gateway = ChineseHelp([
        "Show, purge or verify the cache of the daemon's gateway.": "显示、清理或校验后台服务网关的缓存。",
        """
        usage says how much the cache holds, and its limit; list shows its files, the most recently used first. purge \
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
        "Do not ask, even on a terminal.": "不询问，在终端上也是。",
        """
        Serve the gateway on loopback: package indexes, model hubs, registries of containers and archives, whose files \
        become downloads that survive their clients.
        """: "在本机回环地址上提供网关：软件包索引、模型库、容器镜像仓库和软件仓库，其文件成为不随客户端中断的下载。",
        "The port of the gateway; 0 is any free port (default: 3387).": "网关的端口；0 为任意空闲端口（默认：3387）。",
        "A server that the gateway fetches from; KIND is pypi, hf, oci or apt (repeatable).":
            "网关所代理的服务器；KIND 为 pypi、hf、oci 或 apt（可重复）。",
        "How much the gateway's cache keeps (default: 20GB).": "网关缓存的大小（默认：20GB）。",
        "How long it keeps a file after its last use (default: 30d).": "文件在最后一次使用后保留多久（默认：30d）。",
        """
        Other users of this machine whose programs may use the gateway, separated by commas, such as _apt for apt-get; all \
        for every user (repeatable).
        """: "本机上其程序可以使用网关的其他用户，以逗号分隔，例如 apt-get 的 _apt；all 表示所有用户（可重复）。",
        "Log each request to the gateway: user, name, status, bytes, and whether the cache had it.":
            "记录发给网关的每个请求：用户、名称、状态、字节数，以及缓存中是否已有。",
    ])
}
