extension SentenceTable {
    /// A request that cannot be used.
    static let requests: Rows = [
        .usage: ("{0}", "用法有误：{0}"),
        .secretsForNobody: (
            "there are credentials or secret headers, and no server that they are for", "给出了凭据或机密标头，但没有说明它们属于哪台服务器"
        ),
        .unusableOrigin: (
            "{0} is not a server: write https://host or http://host:port",
            "{0} 不是服务器：请写成 https://host 或 http://host:port"
        ),
        .noURL: ("no URL was given", "没有给出网址"),
        .notChangeable: ("{0} of a listed download cannot be changed", "下载列出后不能更改 {0}"),
        .notAFileURL: ("{0} is not the URL of a file on this device", "{0} 不是本机文件的网址"),
        .unusableHeader: ("{0} cannot be a header with that value", "{0} 不能作为带有该值的请求头"),
        .headerForNobody: (
            "the header {0} may be secret: name the origins that it is for", "请求头 {0} 可能是机密的：请说明它属于哪些来源"
        ),
        .notAPlainGet: ("only GET requests without a body can be downloaded", "只能下载不带正文的 GET 请求"),
        .manySources: ("a download has at most {1} URLs, not {0}", "一个下载最多有 {1} 个 URL，而不是 {0} 个"),
        .notAPartFile: ("{0} is not a part file", "{0} 不是部分文件"),
        .notAFileName: ("{0} is not the name of a file", "{0} 不是文件名"),
        .journalWithoutURL: ("the journal {0} names no URL", "日志 {0} 中没有网址"),
        .directoryReadOnly: ("the directory {0} cannot be written to", "无法写入目录 {0}"),
        .unusableName: ("the name “{0}” cannot be used: {1}", "名称“{0}”无法使用：{1}"),
        .emptyName: ("it is empty", "它是空的"),
        .directoryName: ("it is a directory", "它是一个目录"),
        .slashInName: ("it contains “/”", "它包含“/”"),
        .backslashInName: ("it contains “\\”", "它包含“\\”"),
        .zeroInName: ("it contains a zero byte", "它包含零字节"),
        .hiddenName: ("it begins with a dot, which hides it", "它以点开头，会被隐藏"),
        .nameOfRecord: (
            "files with such names are records of Ferry, which would trust the file", "Ferry 用这样的名称保存记录，会相信该文件的内容"
        ),
        .longName: ("it has {0} bytes, more than {1}", "它有 {0} 字节，超过 {1} 字节"),
        .unusableIdentifier: (
            "the identifier of a download is empty or has a control character in it", "下载的标识符为空或包含控制字符"
        ),
        .sameIdentifier: ("two requests have the identifier {0}", "两个请求使用了同一标识符 {0}"),
        .listedIdentifier: ("a download with the identifier {0} is listed already", "标识符为 {0} 的下载已在列表中"),
        .longLabel: ("the label has {0} bytes; the limit is 4096", "标签有 {0} 字节，最多 4096 字节"),
        .longUserInfo: ("userInfo has {0} bytes; the limit is 4096", "userInfo 有 {0} 字节，最多 4096 字节"),
        .unusableListName: ("“{0}” cannot name a list of downloads", "“{0}”不能用作下载列表的名称"),
        .keptStream: ("a download into a stream cannot be kept in a catalogue", "写入数据流的下载无法保存到目录库"),
        .proxyType: (
            "proxies of type {0} cannot be used: use http or socks5", "不能使用 {0} 类型的代理：请使用 http 或 socks5"
        ),
        .notAProxy: (
            "{0} is not a proxy: write it as http://host:port or socks5://host:port",
            "{0} 不是代理：请写成 http://host:port 或 socks5://host:port"
        ),
        .socksCredentials: (
            "the SOCKS proxy {0} cannot be used with a user name or password", "SOCKS 代理 {0} 不能使用用户名或密码"
        ),
        .noCertificate: ("the certificates have no certificate in PEM form", "certificates 中没有 PEM 格式的证书"),
        .unusablePieces: ("the digests of the pieces do not cover the file", "分块摘要与文件的分块不对应"),
        .unusableUserAgent: (
            "the User-Agent is longer than 4096 bytes or has characters that a header cannot have",
            "User-Agent 超过 4096 字节，或含有请求头不能包含的字符"
        ),
        .noCookie: (
            "the cookies have no Netscape cookie line: seven tab-separated fields",
            "cookies 中没有 Netscape Cookie 文件的行：以制表符分隔的七个字段"
        ),
        .notAChecksum: (
            "{0} is not a checksum: write it as ALGORITHM:HEX, like sha-256:9f86…",
            "{0} 不是校验和：请写成 ALGORITHM:HEX，例如 sha-256:9f86…"
        ),
        .unknownAlgorithm: (
            "unknown checksum algorithm {0}: use sha-256, sha-512, sha-1 or md5",
            "未知的校验算法 {0}：请使用 sha-256、sha-512、sha-1 或 md5"
        ),
        .notHexadecimal: ("the {0} checksum has characters that are not hexadecimal digits", "{0} 校验和中有不是十六进制数字的字符"),
        .digitCount: ("a {0} checksum has {1} hexadecimal digits, this one has {2}", "{0} 校验和应有 {1} 个十六进制数字，这里有 {2} 个"),
    ]

    /// The failure of a server, or of repeated attempts.
    static let servers: Rows = [
        .answered: ("{0} answered {1}", "{0} 返回了 {1}"),
        .unusableAnswer: ("{0} gave an answer that cannot be used", "{0} 的响应无法使用"),
        .unusableAnswers: ("the server's answers cannot be used: {0}", "服务器的响应无法使用：{0}"),
        .noSourceLeft: ("no source is left", "没有可用的来源了"),
        .asksForCredentials: ("{0}: it asks for credentials", "{0}：服务器要求提供凭据"),
        .credentialsRefused: (
            "{0}: it does not accept the user name or password", "{0}：服务器不接受这个用户名或密码"
        ),
        .targetAsksForCredentials: (
            "{0}: it asks for credentials, but gets none, because the link only redirects to it",
            "{0}：服务器要求提供凭据，但链接只是重定向到它，因此没有向它发送凭据"
        ),
        .deadLink: ("{0}: the link no longer works", "{0}：链接已失效"),
        .gaveUpOnce: ("gave up after 1 attempt: {0}", "尝试 1 次后放弃：{0}"),
        .gaveUp: ("gave up after {0} attempts: {1}", "尝试 {0} 次后放弃：{1}"),
        .serverAnswered: ("the server answered {0}", "服务器返回了 {0}"),
        .serverAnsweredFor: ("the server answered {0} ({1})", "服务器返回了 {0}（{1}）"),
        .asksForField: (
            "{0}: it takes no user name and password, but another Authorization header",
            "{0}：服务器不接受用户名和密码，而要求其他 Authorization 请求头"
        ),
        .unusableList: ("cannot get the list of digests {0}: the server answered {1}", "无法取得摘要列表 {0}：服务器返回了 {1}"),
        .stalled: ("the connection stalled", "连接停滞"),
        .slowBody: ("the server did not send the rest of its response in time", "服务器没有在时限内发完响应"),
        .endedEarly: ("the body ended early", "正文提前结束"),
    ]

    /// A response that cannot be used.
    static let answers: Rows = [
        .impossibleLength: ("the server sent an impossible Content-Length", "服务器发送了不可能的 Content-Length"),
        .unasked416: ("the server answered 416 although no range was asked", "没有请求范围，服务器却返回了 416"),
        .answeredNoFile: ("the server answered {0}, which is not a file", "服务器返回了 {0}，不是文件"),
        .severalRanges: ("the server sent several ranges in one body", "服务器在一个正文中发送了多个范围"),
        .noContentRange: ("a 206 without one Content-Range", "206 响应没有唯一的 Content-Range"),
        .impossibleRange: ("a 206 with an impossible Content-Range", "206 响应带有不可能的 Content-Range"),
        .encodedRange: ("a range of an encoded body", "范围取自编码后的正文"),
        .lengthsDisagree: ("Content-Length and Content-Range disagree", "响应的 Content-Length 与 Content-Range 不一致"),
        .unaskedPart: ("a part instead of the whole file", "请求了整个文件，却只得到一部分"),
        .otherStart: ("asked for byte {0}, got byte {1}", "请求从第 {0} 字节开始，得到的却是第 {1} 字节"),
        .unasked304: ("the server answered 304 to a request without a condition", "服务器对无条件的请求返回了 304"),
        .pageInstead: (
            "the server sent a web page instead of the file",
            "服务器返回的是网页而不是文件"
        ),
        .documentInstead: (
            "the server sent a document of the type {0} instead of the file",
            "服务器返回的是类型为 {0} 的文档而不是文件"
        ),
        .unprovenInstead: (
            "the server sent something else, without a validator, instead of the file",
            "服务器返回的是没有校验标识的其他内容而不是文件"
        ),
        .otherOnOneConnection: (
            "the server's answer on another connection was not of this file", "服务器在另一个连接上的响应不属于此文件"
        ),
        .encodesFile: ("the server encodes the file", "服务器对文件进行了编码"),
        .refusesRange: ("the server refuses a range that it has", "服务器拒绝了它拥有的范围"),
    ]

    /// The comparison of representations.
    static let validators: Rows = [
        .noStrongValidator: (
            "the server gave no strong validator, and only strict proof is allowed", "服务器没有给出强校验标识，而只允许严格的证明"
        ),
        .nothingProves: (
            "the server gave no validator, so nothing proves that it is the same file (--resume-unproven compares samples)",
            "服务器没有给出校验标识，无法证明是同一文件（--resume-unproven 可比较抽样）"
        ),
        .noRanges: ("the server sends no ranges", "服务器不支持范围请求"),
        .noRangesAnd: ("the server sends no ranges, and {0}", "服务器不支持范围请求，且{0}"),
        .noRangesNoValidator: ("the server sends no ranges and no validator", "服务器不支持范围请求，也不给出校验标识"),
        .validatorGone: (
            "the server now gives no validator (--resume-unproven compares samples)",
            "服务器不再给出校验标识（--resume-unproven 可比较抽样）"
        ),
        .noValidator: ("the server gives no validator", "服务器不给出校验标识"),
        .grew: ("the size was {0} bytes and is at least {1}", "大小原为 {0} 字节，现在至少为 {1} 字节"),
        .shrank: ("the file shrank to {0} bytes", "文件缩小到了 {0} 字节"),
        .sizeChanged: ("the size was {0} bytes and is {1}", "大小原为 {0} 字节，现为 {1} 字节"),
        .otherSizeUnder: (
            "the size was {0} bytes and is {1} under the same validator, {2}",
            "大小原为 {0} 字节，现为 {1} 字节，而校验标识 {2} 未变"
        ),
        .digestChanged: ("the digest {0} became {1}", "摘要由 {0} 变为 {1}"),
        .weakTag: ("the ETag {0} is weak", "弱 ETag：{0}"),
        .tagChanged: ("ETag {0} became {1}", "标识 ETag 由 {0} 变为 {1}"),
        .dateChanged: ("Last-Modified {0} became {1}", "修改时间 Last-Modified 由 {0} 变为 {1}"),
        .oneTag: ("only one of two answers has an ETag", "两个响应中只有一个带有 ETag"),
        .youngDate: ("Last-Modified is too young to be trusted", "修改时间 Last-Modified 太近，不可信"),
        .samplesDiffer: ("samples of the stored bytes differ from the server's", "已有内容的抽样与服务器发送的不同"),
        .tooLittle: ("too little to compare", "可比较的内容太少"),
    ]

    /// A redirect that cannot be followed.
    static let redirects: Rows = [
        .redirectNowhere: ("the redirect names no address to go to", "重定向没有给出目标"),
        .severalRedirects: ("the redirect names more than one place", "重定向给出了多个目标"),
        .unusableRedirect: ("the redirect cannot be followed: {0}", "无法跟随重定向：{0}"),
        .unencryptedRedirect: ("the redirect leads from https to {0}, which is not encrypted", "重定向从 https 转到未加密的 {0}"),
        .redirectLoop: ("the redirects go round in circles at {0}", "重定向在 {0} 处循环"),
        .tooManyRedirects: ("there are more than {0} redirects", "重定向超过 {0} 次"),
        .redirectOf: ("{0} (response of {1})", "{0}（{1} 的响应）"),
    ]

    /// The file on the server, and its digest.
    static let remoteFiles: Rows = [
        .fileTooLarge: ("the file has {0} bytes, more than the {1} allowed", "文件有 {0} 字节，超过允许的 {1} 字节"),
        .fileLargerThan: ("the file is larger than the {0} bytes allowed", "文件超过允许的 {0} 字节"),
        .otherSize: ("the file has {0} bytes, and {1} are expected", "文件有 {0} 字节，而应有 {1} 字节"),
        .noLength: ("the server gives no length, so nothing proves that the file is whole", "服务器没有给出长度，无法证明文件是完整的"),
        .otherFile: ("nothing proves that this link leads to the file that was begun: {0}", "无法证明此链接指向的就是已开始下载的文件：{0}"),
        .changed: ("the file on the server is not the one that was begun: {0}", "服务器上的文件已不是开始下载时的文件：{0}"),
        .changedInStream: (
            "the file on the server changed while it was written to the output: {0}", "写入输出期间，服务器上的文件发生了变化：{0}"
        ),
        .streamBroke: (
            "the rest cannot be added to what is in the output: {0}",
            "无法在已输出的内容之后继续：{0}"
        ),
        .changedWhileRead: ("{0} changed while it was read", "读取期间 {0} 发生了变化"),
        .readBytesWrong: ("bytes that were read do not match their digest", "已读取的字节与其摘要不符"),
        .readsStream: ("{0} is written to a stream, which cannot be read", "{0} 正写入数据流，无法读取"),
        .otherThanSaved: ("{0} is no longer the file that was downloaded", "{0} 已不是当初下载的文件"),
        .keepsChanging: ("the source keeps changing: {0}", "来源上的文件不断变化：{0}"),
        .cannotGoOn: ("it cannot be resumed: {0}", "无法继续下载：{0}"),
        .weakProof: ("the file is complete, but its proof is only “{0}”", "文件已完整，但其证明仅为“{0}”"),
        .wrongDigest: ("checksum mismatch: expected {0}, got {1}", "校验和不符：应为 {0}，实为 {1}"),
        .damagedPieces: (
            "{0} of {1} pieces of the file do not match their digests", "文件共 {1} 个分块，其中 {0} 个与摘要不符"
        ),
        .uncoveredPieces: (
            "the file has {0} bytes, and its piece digests are for another size",
            "文件有 {0} 字节，而分块摘要对应另一大小"
        ),
        .checksumOfRequest: ("was given with this request", "由本次请求给出"),
        .checksumOfList: ("is from {0}", "来自 {0}"),
        .checksumOfEarlierRun: ("was given to an earlier run", "由之前一次运行给出"),
        .checksumOfServer: ("was declared by the server", "由服务器声明"),
        .wrongDigestInStream: (
            "checksum mismatch in the output: expected {0}, got {1}", "已写出内容的摘要不符：应为 {0}，实为 {1}"
        ),
        .wrongMessageDigest: (
            "the server's bytes do not match its Content-Digest: expected {0}, got {1}",
            "服务器发送的内容与其 Content-Digest 不符：应为 {0}，实为 {1}"
        ),
        .notInChecksumList: ("{0} has no digest for {1}", "{0} 中没有 {1} 的摘要"),
    ]
}
