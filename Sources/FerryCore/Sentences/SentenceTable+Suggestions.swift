extension SentenceTable {
    /// The suggestions for the user.
    static let suggestions: Rows = [
        .giveLinkOfBegun: (
            "Give a link to the file that was begun, or start over under another name; the received part was not changed.",
            "请提供所开始文件的链接，或换一个名称重新开始；已有的内容保持不变。"
        ),
        .orRestart: (
            "Without --no-restart it starts over; the received part was not changed.",
            "不加 --no-restart 则会从头开始；已有的内容保持不变。"
        ),
        .giveCredentials: (
            "Give --user or --header, and run it again; the received part is kept.",
            "请用 --user 或 --header 提供凭据后重新运行；已有的内容会保留。"
        ),
        .giveCredentialsFirst: ("Give --user or --header, and run it again.", "请用 --user 或 --header 提供凭据后重新运行。"),
        .giveField: (
            "Give the header with --header 'Authorization: …', and run it again.",
            "请用 --header 'Authorization: …' 提供该请求头后重新运行。"
        ),
        .giveTargetLink: (
            "Give a link to that server itself; after a redirect only its own entry of --netrc is used, and only over https.",
            "请提供该服务器本身的链接；重定向之后只使用 --netrc 中该服务器自己的条目，并且只通过 https。"
        ),
        .giveFreshLink: ("Give a fresh link for the same file; the received part is kept.", "请提供同一文件的新链接；已有的内容会保留。"),
        .signInAgain: (
            "Get past the page in a browser and run it again; after a login there give its cookies with --load-cookies, or give a fresh link; --accept-html accepts the page as the file.",
            "请在浏览器中处理该网页后重新运行；如果在那里登录了，请用 --load-cookies 提供其 Cookie，或提供新链接；用 --accept-html 可接收网页。"
        ),
        .freshLinkOrThis: (
            "Give a fresh link for the same file, or --accept-html to take this; the received part is kept.",
            "请提供同一文件的新链接，或用 --accept-html 接收它；已有的内容会保留。"
        ),
        .giveOwnChecksum: (
            "The server may send a wrong Content-Digest. Give the file's own with --checksum, or --checksum none to take the bytes as they are.",
            "服务器发送的 Content-Digest 可能有误。请用 --checksum 给出文件本身的校验和，或用 --checksum none 按原样接受数据。"
        ),
        .runAgain: ("Run it again to resume.", "重新运行即可从这里继续。"),
        .continueWithRest: (
            "Run it again: bytes that are still there are kept.", "请重新运行：仍在的内容会保留。"
        ),
        .runAnew: ("Run it again, from the beginning: {0}.", "请重新运行，这会从头开始：{0}。"),
        .giveChecksum: ("Give a --checksum, or omit --strict.", "请提供 --checksum，或去掉 --strict。"),
        .keptMarked: (
            "Kept as {0}; --checksum none accepts it, another compares it.",
            "已保留为 {0}；--checksum none 按现状接受，给出另一个则重新核对。"
        ),
        .keptMarkedOf: (
            "Kept as {0}; the checksum {1}; --checksum none accepts the file, another compares it.",
            "已保留为 {0}；该校验和{1}；--checksum none 按现状接受，给出另一个则重新核对。"
        ),
        .doNotUse: ("Do not use what was written.", "请勿使用已写出的内容。"),
        .makeRoom: ("Make room and run it again.", "请腾出空间后重新运行。"),
        .minFree: (
            "--min-free 0 keeps nothing free.", "--min-free 0 表示不保留。"
        ),
        .startAnew: (
            "Start the download again; a part file that is still there is found by its URL.",
            "请重新开始下载；如果部分文件还在，会通过网址找到它。"
        ),
        .updateFerry: ("Update Ferry.", "请更新 Ferry。"),
        .useListed: ("Use the listed one, or add another one on purpose.", "请使用已列出的下载，或明确添加另一个。"),
        .giveBinary: ("Install ferry, or name its path in FERRY_BINARY.", "请安装 ferry，或用 FERRY_BINARY 指明它的路径。"),
        .nameServer: (
            "Give the URL, or name the server: --user NAME@HOST, secretsOrigin.",
            "请给出网址，或说明服务器：--user NAME@HOST、secretsOrigin。"
        ),
        .leaveOutNoPrivate: ("If this address is intended, leave out --no-private.", "如果确实要用这个地址，请去掉 --no-private。"),
        .allowPrivate: (
            "If this address is meant, allow it: allowsPrivate of a request, --allow-private of a worker.",
            "如果确实要用这个地址，请允许它：请求用 allowsPrivate，ferry work 用 --allow-private。"
        ),
        .writeHTTP: (
            "If the server speaks plain HTTP on this port, write http:// in place of https://.",
            "如果服务器在此端口使用明文 HTTP，请把 https:// 改为 http://。"
        ),
        .renewCertificate: (
            "Its server has to renew it; if the date of this machine is wrong, correct it.",
            "需要由服务器更新证书；如果本机日期不对，请调整日期。"
        ),
        .setDate: (
            "If the date of this machine is wrong, correct it; otherwise the server has to send another one.",
            "如果本机日期不对，请调整日期；否则服务器需要换用其他证书。"
        ),
        .giveNameOfCertificate: (
            "Write the name that the certificate is for in the URL; --insecure would trust anyone.",
            "请在网址中使用证书所属的名称；--insecure 会信任任何人。"
        ),
        .getOneFile: ("Use ferry get for a single file.", "下载单个文件请用 ferry get。"),
        .giveAuthority: (
            "Give the authority with --ca-file; --insecure would trust anyone.",
            "请用 --ca-file 提供证书颁发机构；--insecure 会信任任何人。"
        ),
        .giveCertificate: (
            "If it is the server's own, give it with --ca-file; --insecure would trust anyone.",
            "如果它确实是该服务器自己的证书，请用 --ca-file 提供它；--insecure 会信任任何人。"
        ),
        .allowRedirects: ("--max-redirects N follows more.", "可用 --max-redirects N 跟随更多重定向。"),
        .allowDowngrade: ("--allow-downgrade follows it.", "可用 --allow-downgrade 跟随它。"),
        .writeProxyCredentials: (
            "Write them as --proxy http://USER:PASSWORD@host:port.", "请写成 --proxy http://USER:PASSWORD@host:port。"
        ),
        .waitForOther: (
            "Wait for the other one (ferry list shows those of the daemon), then run it again.",
            "请等待另一个下载结束（ferry list 列出后台服务的下载），然后重新运行。"
        ),
        .waitOrRename: (
            "Wait for the other one (ferry list shows those of the daemon), or choose another name with -o.",
            "请等待另一个下载结束（ferry list 列出后台服务的下载），或用 -o 选择其他名称。"
        ),
        .moveAway: (
            "Move the part file and its journal away to begin again; nothing was deleted.", "请移走部分文件及其日志后重新开始；没有删除任何内容。"
        ),
        .nameLists: (
            "Use letters, digits, '.', '-' and '_', at most 128, not beginning with a dot.",
            "请使用字母、数字、“.”“-”“_”，最多 128 个，且不以点开头。"
        ),
        .useNewer: ("Use that version, or another identifier.", "请使用那个版本，或使用其他标识符。"),
        .closeFirst: ("Close it there first, or use another identifier.", "请先在那里关闭它，或使用其他标识符。"),
        .giveAgain: ("Give them again.", "请重新提供凭据。"),
        .samePriority: (
            "A download moves among those of its priority; ferry set NAME priority=normal changes it.",
            "下载只能在相同优先级之间移动；可用 ferry set NAME priority=normal 更改优先级。"
        ),
        .useRunning: ("Use that one, or stop it first.", "请使用那一个，或先停止它。"),
        .listShows: ("Run ferry list to see all.", "请运行 ferry list 查看全部下载。"),
        .lookAtLog: ("Run ferry logs to see what it does.", "请运行 ferry logs 查看它在做什么。"),
        .logWhere: (
            "A daemon on a terminal logs there; one started by ferry add logs to this file.",
            "在终端中运行的后台服务会把日志写到终端，由 ferry add 启动的则写入此文件。"
        ),
        .giveMoreOfID: ("Give more of the identifier.", "请给出更长的标识符。"),
        .listTokens: ("Run ferry web --list for those that are signed in.", "请运行 ferry web --list 查看已登录的浏览器。"),
        .stopDaemon: ("End it first.", "请先结束它。"),
        .killDaemon: ("End it first: kill {0}.", "请先结束它：kill {0}。"),
        .anotherSocket: (
            "Use that daemon, stop it first, or give another socket with --socket.",
            "请使用那个守护进程，或先停止它，或用 --socket 给出其他套接字。"
        ),
        .anotherPort: ("Give another one with {0}, or 0 for any free port.", "请用 {0} 给出其他端口，或用 0 表示任意空闲端口。"),
        .shorterSocket: ("Give a shorter one with --socket or FERRY_SOCKET.", "请用 --socket 或 FERRY_SOCKET 给出更短的路径。"),
        .removeOrChoose: ("Remove it, or choose another place.", "请移除它，或选择别的位置。"),
        .closeOrChoose: ("Close it with chmod 700, or choose another place.", "请用 chmod 700 关闭它，或选择别的位置。"),
        .listenForFerry: (
            "Let the socket unit listen at the daemon's own addresses, and at no others.", "请让套接字单元只监听守护进程自己的地址。"
        ),
        .giveDescriptor: (
            "Give --ready-fd the number of one that was opened for writing.", "请给 --ready-fd 一个已打开可写的描述符编号。"
        ),
        .correctSetting: ("Correct it in {0}.", "请在 {0} 中更正。"),
        .writeObject: ("Write one JSON object.", "请写成一个 JSON 对象。"),
        .allowThenRestart: (
            "Choose a place there, or name another directory in allowedDirectories and start the daemon again.",
            "请选择其中的位置，或在 allowedDirectories 中写入其他目录并重新启动守护进程。"
        ),
        .startUnconfined: ("Start it without --confine.", "请不带 --confine 启动。"),
        .nameSessions: (
            "Use letters, digits, '.', '-' and '_', at most 128, not beginning with a dot; not “all”.",
            "请使用字母、数字、“.”“-”“_”，最多 128 个，不以点开头；不能是“all”。"
        ),
        .nameDownloads: ("Use at most 256 bytes without control characters.", "请使用最多 256 字节，且不含控制字符。"),
        .noShell: ("No shell is asked where a program is.", "不会通过 shell 查找程序。"),
        .choosePlaceBelow: ("Choose a place below {0}.", "请选择 {0} 之下的位置。"),
        .giveInURLs: ("Give one in urls.", "请在 urls 中给出。"),
        .runByItself: ("Run ferry serve by itself.", "请直接运行 ferry serve。"),
        .startUserSession: (
            "Is there a systemd user session? If not, run ferry serve by itself.",
            "是否有 systemd 用户会话？否则请直接运行 ferry serve。"
        ),
    ]
}
