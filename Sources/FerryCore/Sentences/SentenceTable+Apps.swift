extension SentenceTable {
    /// The suggestions for users of an app, in place of those that name options of the program `ferry`.
    package static let appSuggestions: Rows = [
        .orRestart: (
            "Without trust.failsOnChange it starts over; the received part was not changed.",
            "不设置 trust.failsOnChange 则会从头开始；已有的内容保持不变。"
        ),
        .giveCredentials: (
            "Provide credentials for the server, and resume the download; the received part is kept.",
            "请提供该服务器的凭据后继续下载；已有的内容会保留。"
        ),
        .giveCredentialsFirst: ("Provide credentials for the server, and try again.", "请提供该服务器的凭据后重试。"),
        .giveField: (
            "Provide the header that the server asks for, such as Authorization, and try again.",
            "请提供服务器要求的请求头（如 Authorization）后重试。"
        ),
        .giveTargetLink: (
            "Provide a link to that server itself; after a redirect only its own entry of netrc is used, and only over https.",
            "请提供该服务器本身的链接；重定向之后只使用 netrc 中该服务器自己的条目，并且只通过 https。"
        ),
        .signInAgain: (
            "Get past the page in a browser and try again; after a login there provide its cookies or a fresh link. With trust.acceptsHTML the page is accepted as the file.",
            "请在浏览器中处理该网页后重试；如果在那里登录了，请提供其 Cookie 或新链接。设置 trust.acceptsHTML 可接收网页。"
        ),
        .giveOwnChecksum: (
            "The server may send a wrong Content-Digest. Set the file's own checksum, or ignoresEarlierChecksum to take the bytes as they are.",
            "服务器发送的 Content-Digest 可能有误。请设置文件本身的 checksum，或设置 ignoresEarlierChecksum 按原样接受数据。"
        ),
        .runAgain: ("Resume the download.", "请继续下载。"),
        .continueWithRest: (
            "Resume the download: bytes that are still there are kept.", "请继续下载：仍在的内容会保留。"
        ),
        .runAnew: ("Start the download again, from the beginning: {0}.", "请重新开始下载，这会从头开始：{0}。"),
        .giveChecksum: ("Set a checksum, or omit trust.strict.", "请设置 checksum，或去掉 trust.strict。"),
        .keptMarked: (
            "Kept as {0}; without a checksum it is accepted, another checksum compares it.",
            "已保留为 {0}；去掉 checksum 则按现状接受，给出另一个则重新核对。"
        ),
        .keptMarkedOf: (
            "Kept as {0}; the checksum {1}; without a checksum the file is accepted, another checksum compares it.",
            "已保留为 {0}；该校验和{1}；去掉 checksum 则按现状接受，给出另一个则重新核对。"
        ),
        .makeRoom: ("Make room and try again.", "请腾出空间后重试。"),
        .minFree: ("With minFreeBytes 0, nothing is kept free.", "minFreeBytes 为 0 表示不保留。"),
        .giveBinary: ("Install the program ferry.", "请安装 ferry 程序。"),
        .nameServer: ("Give the URL, or name the server with secretsOrigin.", "请给出网址，或用 secretsOrigin 说明服务器。"),
        .allowPrivate: ("If this address is meant, allow it with allowsPrivate.", "如果确实要用这个地址，请用 allowsPrivate 允许它。"),
        .giveNameOfCertificate: (
            "Write the name that the certificate is for in the URL; connection.insecure would trust anyone.",
            "请在网址中使用证书所属的名称；connection.insecure 会信任任何人。"
        ),
        .giveAuthority: (
            "Set the authority in connection.certificates; connection.insecure would trust anyone.",
            "请在 connection.certificates 中提供证书颁发机构；connection.insecure 会信任任何人。"
        ),
        .giveCertificate: (
            "If it is the server's own, set it in connection.certificates; connection.insecure would trust anyone.",
            "如果它确实是该服务器自己的证书，请在 connection.certificates 中提供它；connection.insecure 会信任任何人。"
        ),
        .allowRedirects: ("A larger maxRedirects follows more.", "可用更大的 maxRedirects 跟随更多重定向。"),
        .allowDowngrade: ("With trust.allowsDowngrade it is followed.", "设置 trust.allowsDowngrade 可跟随它。"),
        .writeProxyCredentials: (
            "Write them in the URL of the proxy, as in http://USER:PASSWORD@host:port.",
            "请写在代理的网址中，例如 http://USER:PASSWORD@host:port。"
        ),
        .waitForOther: ("Wait for the other one, then try again.", "请等待另一个下载结束后重试。"),
        .samePriority: (
            "A download moves among those of its priority, which can be changed.", "下载只能在相同优先级之间移动；优先级可以更改。"
        ),
        .getOneFile: ("Download a single file as such.", "单个文件请直接下载。"),
        .makeItYours: (
            "Nothing was changed. Move it away, or make it yours alone (chown, chmod go-w), and try again.",
            "没有更改任何内容。请将其移走，或使其仅归您所有（chown、chmod go-w），然后重试。"
        ),
        .restoreManifest: (
            "Restore its earlier version. If there is none, delete it and sync with the conflict rule overwrite.",
            "请恢复它的早期版本；如果没有，请删除它，并使用冲突规则 overwrite 同步。"
        ),
        .overwriteInSet: ("The conflict rule overwrite replaces it.", "冲突规则 overwrite 会替换它。"),
        .overwriteOrRepair: (
            "The conflict rule overwrite replaces it with the source's; a repair fetches only the changed bytes.",
            "冲突规则 overwrite 会用来源的文件替换它；修复只下载被改动的部分。"
        ),
        .checkS3Keys: ("Check the keys for the store.", "请检查该存储的密钥。"),
        .setRegion: ("Set the bucket's region.", "请设置存储桶所在的区域。"),
    ]
}
