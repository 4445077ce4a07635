extension SentenceTable {
    /// The daemon, its settings and its service.
    static let daemon: Rows = [
        .notAnUpstream: (
            "{0} is not an upstream of the gateway: write it like pypi=https://index.example/simple/, with pypi, hf, oci or apt",
            "{0} 不是网关的上游：请写成 pypi=https://index.example/simple/ 的形式，类型为 pypi、hf、oci 或 apt"
        ),
        .upstreamWithSecrets: (
            "the URL of an upstream has no user info and no query: each client sends its own credentials",
            "上游的 URL 不能包含用户信息或查询：由各个客户端发送自己的凭据"
        ),
        .secondUpstream: ("the gateway has one upstream for {0}", "网关只能有一个类型为 {0} 的上游"),
        .noGateway: ("the daemon serves no gateway", "后台服务没有提供网关"),
        .noSuchDoor: ("the settings ask for {0}, which this program does not have", "设置中要求提供 {0}，而此程序不包含它"),
        .serveGateway: (
            "Start it with ferry serve --gateway.", "请用 ferry serve --gateway 启动它。"
        ),
        .purgeWithoutFiles: (
            "say which files to purge from the cache: by name, age, or all", "请指明从缓存中移除哪些文件：按名称、按时间或全部"
        ),
        .notInCache: ("no file of the gateway's cache matches {0}", "网关缓存中没有文件 {0}"),
        .severalInCache: ("{0} means {1} files of the gateway's cache", "{0} 对应网关缓存中的 {1} 个文件"),
        .listGateway: ("Run ferry gateway list to see all.", "请运行 ferry gateway list 查看全部文件。"),
        .fixedInSession: (
            "downloads of the session {0} keep their URLs, headers, credentials and checksums",
            "会话 {0} 的下载的 URL、标头、凭据和校验和不能更改"
        ),
        .noSuchUser: ("there is no user {0} on this machine", "此计算机上没有用户 {0}"),
        .largeAnswer: ("the response has more than {0}", "响应超过 {0}"),
        .anotherDaemon: ("another daemon is running with {0}", "另一个守护进程正在使用 {0}"),
        .anotherDaemonProcess: ("another daemon is running (process {0}) with {1}", "另一个守护进程（进程 {0}）正在使用 {1}"),
        .noTokenFile: (
            "aria2Secret: {0} is no private file of this user (mode 0600) with a token",
            "aria2Secret：{0} 不是当前用户的含有令牌的私有文件（权限 0600）"
        ),
        .takenPort: ("port {0} is taken by another program", "端口 {0} 已被其他程序占用"),
        .closedPort: ("port {0} is not for this user", "此用户不能使用端口 {0}"),
        .longSocket: ("the path of the socket is too long: {0}", "套接字的路径太长：{0}"),
        .servedSocket: ("another daemon answers at {0}", "另一个守护进程正在 {0} 上应答"),
        .notOurSocket: ("{0} exists and is not this user's socket", "{0} 已存在，且不是当前用户的套接字"),
        .notOurDirectory: ("{0} is no directory of this user", "{0} 不是当前用户的目录"),
        .openDirectory: ("{0} is open to others", "{0} 对其他用户开放"),
        .closedDescriptor: ("descriptor {0} is not open", "描述符 {0} 没有打开"),
        .foreignSocket: (
            "descriptor {0} is no listening stream socket, of a path or of loopback", "描述符 {0} 不是监听中的流套接字（路径或回环地址）"
        ),
        .socketElsewhere: (
            "the socket of descriptor {0} does not listen on loopback: {1}", "描述符 {0} 的套接字没有监听回环地址：{1}"
        ),
        .otherSocketPath: (
            "the inherited socket is {0}, the daemon's socket is {1}", "移交的套接字是 {0}，守护进程的套接字是 {1}"
        ),
        .manySockets: (
            "at most one path, one address of 127.0.0.1 and one of ::1 with the same port can be handed over, not {0}",
            "最多只能移交一个路径、一个 127.0.0.1 地址和一个端口相同的 ::1 地址的套接字，不能是 {0}"
        ),
        .unreadableSettings: ("the settings in {0} cannot be read", "无法读取 {0} 中的设置"),
        .unwrittenSettings: ("cannot write the settings to {0}", "无法把设置写入 {0}"),
        .noJSONObject: ("{0} is not a JSON object", "{0} 不是 JSON 对象"),
        .unusableSetting: ("a setting cannot be used: {0}", "有一项设置无法使用：{0}"),
        .noProgram: ("{0}: {1} is no program that can be run", "{0}：{1} 不是可以运行的程序"),
        .relativePath: ("{0} is not absolute", "{0} 不是绝对路径"),
        .relativeToDaemon: ("{0} is not absolute: the daemon has another working directory", "{0} 不是绝对路径：守护进程的工作目录不同"),
        .noDownload: ("there is no download {0}", "没有下载 {0}"),
        .noneCalled: ("no download is called {0}, and no identifier begins with it", "没有名为 {0} 的下载，也没有以它开头的标识符"),
        .severalCalled: ("{0} matches {1} downloads: {2}", "{0} 对应 {1} 个下载：{2}"),
        .noToken: ("no browser is signed in as {0}", "没有标识符为 {0} 的已登录浏览器"),
        .unusableDownloadName: ("{0} cannot name a download", "{0} 不能作为下载的标识符"),
        .unusableSession: ("{0} cannot name a session", "{0} 不能作为会话的名称"),
        .manySessions: ("there are {0} sessions already", "已有 {0} 个会话"),
        .relativeCommand: ("the launch command does not begin with an absolute path", "启动命令没有以绝对路径开头"),
        .unusableCommand: ("the launch command cannot be run", "启动命令无法运行"),
        .severalPlaces: ("path, part and directory exclude each other", "path、part 和 directory 不能同时给出"),
        .placeForSocket: (
            "paths are for the Unix socket only; give a name and a directory", "路径只能通过 Unix 套接字给出；这里请给出名称和目录"
        ),
        .hiddenPlace: ("{0} is hidden, or leads elsewhere", "{0} 是隐藏的，或指向别处"),
        .longPlace: ("a directory or name has at most {0} bytes", "目录或名称最多 {0} 字节"),
        .outsidePlace: ("{0} is not below a directory that is allowed", "{0} 不在允许的目录之下"),
        .linkedPlace: ("{0} is a symbolic link", "{0} 是符号链接"),
        .notInRange: ("{0} is not between {1} and {2}", "{0} 不在 {1} 到 {2} 之间"),
        .passwordAlone: ("a password without a user", "只有密码，没有用户名"),
        .otherSession: ("the identifier {0} belongs to a download of another session", "标识符 {0} 属于另一个会话的下载"),
        .runsElsewhere: ("the downloads of this manager run in another process", "这个管理器的下载在另一个进程中运行"),
        .noSystemctl: ("there is no systemctl on this machine", "这台机器上没有 systemctl"),
        .systemctlFailed: ("systemctl --user {0} failed", "systemctl --user {0} 失败"),
        .unusableUnit: ("a unit cannot run {0}", "服务单元无法运行 {0}"),
        .strayDaemon: ("a daemon is running that systemd did not start", "有一个不是由 systemd 启动的后台服务正在运行"),
        .daemonStays: ("the daemon (process {0}) has not left", "后台服务（进程 {0}）没有退出"),
        .noLog: ("there is no log {0}", "没有日志 {0}"),
        .confinedElsewhere: ("this daemon is confined to {1}: it may not write to {0}", "此守护进程只能写入 {1}，不能写入 {0}"),
        .cannotConfine: ("the daemon cannot be confined: {0}", "无法限制守护进程：{0}"),
        .noLandlock: ("this system has no Landlock", "此系统没有 Landlock"),
        .confinementLost: ("the kernel did not apply it", "内核没有实施限制"),
        .hostOtherVersion: (
            "the extension speaks version {0} of the protocol, this program version {1}", "扩展使用协议版本 {0}，本程序使用版本 {1}"
        ),
        .unusableMessage: ("a message of the extension cannot be used: {0}", "无法使用扩展的消息：{0}"),
        .fileIsGone: ("{0} is not complete, or its file is gone", "{0} 尚未完成，或其文件已不存在"),
        .noFileManager: ("no file manager could be opened", "无法打开文件管理器"),
        .daemonNotFound: (
            "the daemon is not running, and the program ferry was not found: {0}", "Ferry 后台服务没有运行，也找不到 ferry 程序：{0}"
        ),
        .daemonNotStarted: ("{0} could not be started as the daemon: {1}", "无法将 {0} 启动为 Ferry 后台服务：{1}"),
        .daemonSilent: ("the daemon does not answer at {0}", "Ferry 后台服务在 {0} 没有应答"),
        .daemonAbsent: ("no daemon is running, so nothing is being downloaded", "Ferry 后台服务没有运行，因此没有任何下载在进行"),
        .daemonOtherVersion: (
            "the daemon speaks a different version from this program: {0}", "Ferry 后台服务与本程序的版本不一致：{0}"
        ),
        .daemonUnreadable: ("the daemon's answer cannot be read: {0}", "无法读懂 Ferry 后台服务的应答：{0}"),
        .socketUnsafe: (
            "the directory {0} of the daemon's socket is not private", "后台服务套接字所在的目录 {0} 不是私有的"
        ),
        .streamStaysHere: ("a download into a stream cannot be handed to the daemon", "写入流的下载无法交给后台服务"),
        .waitForDaemonWasCancelled: ("waiting for the daemon was cancelled", "对 Ferry 后台服务的等待已取消"),
    ]

    /// A download manager and its list.
    static let manager: Rows = [
        .wasCancelled: ("{0} was cancelled", "{0} 已取消"),
        .waitWasCancelled: ("waiting for {0} was cancelled", "对 {0} 的等待已取消"),
        .leftAtShutDown: ("{0} had not ended when Ferry was shut down", "Ferry 关闭时 {0} 尚未完成"),
        .wasShutDown: ("this download manager was shut down", "此下载管理器已关闭"),
        .alreadyListed: ("{0} is listed already", "{0} 已在列表中"),
        .notListed: ("{0} is not listed any longer", "{0} 已不在列表中"),
        .nothingLeft: ("{0} has ended: there is nothing to resume", "{0} 已结束，没有可继续的内容"),
        .credentialsNotKept: ("the credentials of {0} were not kept", "{0} 的凭据没有保存"),
        .notInThatPriority: ("{0} is not listed among those of the same priority", "{0} 不在相同优先级的列表中"),
        .cannotPause: ("{0} cannot be paused: {1}", "无法暂停 {0}：{1}"),
        .cannotResume: ("{0} cannot be resumed: {1}", "无法继续 {0}：{1}"),
        .cannotCancel: ("{0} cannot be cancelled: {1}", "无法取消 {0}：{1}"),
        .cannotRemove: ("{0} was not removed: {1}", "未移除 {0}：{1}"),
        .cannotRestart: ("{0} cannot be restarted: {1}", "无法重新下载 {0}：{1}"),
        .cannotChange: ("{0} cannot be changed: {1}", "无法更改 {0}：{1}"),
        .cannotRead: ("{0} cannot be read: {1}", "无法读取 {0}：{1}"),
        .itWaits: ("it is waiting", "下载正在等待"),
        .itIsDownloading: ("it is downloading", "正在下载"),
        .itIsVerified: ("its file is being verified", "正在校验文件"),
        .itIsPaused: ("it is paused", "下载已暂停"),
        .itHasFailed: ("it has failed", "下载已失败"),
        .itIsComplete: ("it is complete", "下载已完成"),
        .itWasCancelled: ("it was cancelled", "下载已被取消"),
        .itIsAStream: ("a stream cannot be resumed", "数据流无法续传"),
    ]

    /// The catalogue of downloads.
    static let catalogue: Rows = [
        .listClosed: ("the list of downloads is closed", "下载列表已关闭"),
        .catalogueOpening: ("cannot open the catalogue {0}", "无法打开目录库 {0}"),
        .catalogueReading: ("cannot read the catalogue {0}", "无法读取目录库 {0}"),
        .catalogueEntry: ("cannot read an entry of the catalogue {0}", "无法读取目录库 {0} 中的一项"),
        .catalogueWriting: ("cannot write the catalogue {0}", "无法写入目录库 {0}"),
        .catalogueClosing: ("cannot close the catalogue {0}", "无法关闭目录库 {0}"),
        .changesForgotten: (
            "cannot write to the catalogue {0}: {1} changes to the list are lost", "无法写入目录库 {0}：列表的 {1} 项更改已丢失"
        ),
        .newerCatalogue: ("the catalogue {0} was made by a newer version of Ferry", "目录库 {0} 由更新版本的 Ferry 创建"),
        .noCatalogue: ("{0} is no catalogue of Ferry: {1}", "{0} 不是 Ferry 的目录库：{1}"),
        .foreignFile: ("another program made it", "它由其他程序创建"),
        .noFile: ("it is not a file", "它不是文件"),
        .openHere: ("the catalogue in {0} is open already in this process", "{0} 中的目录库已在本进程中打开"),
        .openElsewhere: ("the catalogue in {0} is open in another process", "{0} 中的目录库已在另一个进程中打开"),
        .openInProcess: ("the catalogue in {0} is open in another process ({1})", "{0} 中的目录库已在另一个进程（{1}）中打开"),
        .secretsUnread: ("cannot read the credentials of the download {0}", "无法读取下载 {0} 的凭据"),
        .secretsUnwritten: ("cannot keep the credentials of a download", "无法保存下载的凭据"),
    ]
}
