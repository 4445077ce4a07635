extension SentenceTable {
    /// A connection. `beforeAnswer`, `inHead` and `beforeBodyEnd` name a stage, and are inserted into other sentences.
    static let network: Rows = [
        .stopped: ("stopped", "已停止"),
        .transportShutDown: ("the transport is shut down", "传输已关闭"),
        .failedWith: ("{0}: {1}", "{0}：出错（{1}）"),
        .at: ("{0}, {1}", "{0}，发生在{1}"),
        .proxyNamed: ("proxy {0}", "代理 {0}"),
        .noAddress: ("{0}: no address", "{0}：没有地址"),
        .nameWithoutAddress: ("{0}: the name has no address", "{0}：该名称没有地址"),
        .noAddressOfVersion: ("{0}: no {1} address", "{0}：没有 {1} 地址"),
        .addressOfOtherVersion: ("{0}: not an {1} address, which was asked for", "{0}：不是所要求的 {1} 地址"),
        .hostGivenUp: ("{0} was given up after {1} attempts: {2}", "尝试 {1} 次后放弃 {0}：{2}"),
        .hostIsAbsent: ("{0} gets no request before its next attempt: {1}", "在下次尝试之前不请求 {0}：{1}"),
        .hostAsksToWait: ("{0} asked to wait ({1})", "{0} 要求等待（{1}）"),
        .hostBudgetFull: (
            "as many downloads of {0} run as its budget permits: {1}", "{0} 正在运行的下载数已达到其预算上限：{1}"
        ),
        .hostBudgetSpaced: ("the budget of {0} wants {1} between two requests", "{0} 的预算要求两次请求间隔 {1}"),
        .hostBudgetSpent: ("the budget of {0} is used up", "{0} 的预算已用完"),
        .noHostName: ("not a host name: {0}", "不是主机名：{0}"),
        .noSuchHost: ("{0}: there is no such host", "{0}：没有这个主机"),
        .privateAddress: (
            "{0}: {1} is not a public address, and only those are allowed", "{0}：{1} 不是公网地址，而只允许连接公网地址"
        ),
        .ownProxy: (
            "{0}: only public addresses may be connected to, and a proxy given for one download could lead elsewhere",
            "{0}：只允许连接公网地址，而为单个下载指定的代理可能通向其他地址"
        ),
        .noAnswerInTime: ("{0}: no answer in time", "{0}：响应超时"),
        .noConnectionInTime: ("{0}: no connection in time", "{0}：连接超时"),
        .noHandshakeInTime: ("{0}: no TLS handshake in time", "{0}：TLS 握手超时"),
        .connectionRefused: ("{0}: connection refused", "{0}：连接被拒绝"),
        .noRoute: ("{0}: no route to host", "{0}：没有到主机的路由"),
        .networkUnreachable: ("{0}: network is unreachable", "{0}：网络不可达"),
        .networkDown: ("{0}: network is down", "{0}：网络已断开"),
        .connectTimedOut: ("{0}: connection timed out", "{0}：连接尝试超时"),
        .connectionReset: ("{0}: connection reset by peer", "{0}：连接被对方重置"),
        .brokenPipe: ("{0}: broken pipe", "{0}：连接已断开"),
        .noDescriptors: ("{0}: too many open files", "{0}：打开的文件过多"),
        .connectionClosed: ("{0}: the connection was closed {1}", "{0}：连接在{1}被关闭"),
        .closedInHandshake: ("{0}: the connection was closed in the TLS handshake", "{0}：连接在 TLS 握手时被关闭"),
        .bodyTooShort: ("{0}: the body ended {1} bytes too early", "{0}：正文提前 {1} 字节结束"),
        .unaskedAnswer: ("{0}: an answer that was not asked for", "{0}：收到未请求的响应"),
        .noStatusLine: ("its first line is not an HTTP status line", "首行不是 HTTP 状态行"),
        .largeHead: ("its header is too large", "响应头过大"),
        .badHeaderLine: ("a line of its header is malformed", "响应头有一行格式错误"),
        .badContentLength: ("its Content-Length cannot be trusted", "Content-Length 不可信"),
        .badChunkSize: ("a chunk has no valid size", "某个分块没有有效的大小"),
        .unusableHTTP: ("{0}: unusable answer, not valid HTTP: {1}", "{0}：响应无法使用，不是有效的 HTTP：{1}"),
        .proxyCannotReach: ("proxy {0}: it cannot reach {1} ({2})", "代理 {0}：无法到达 {1}（{2}）"),
        .proxyRefuses: ("{0}: it refuses to connect to {1}", "{0}：拒绝连接到 {1}"),
        .proxyAsksForCredentials: ("proxy {0}: it asks for credentials", "代理 {0}：要求提供凭据"),
        .proxyClosed: ("proxy {0}: it closed the connection", "代理 {0}：关闭了连接"),
        .beforeAnswer: ("before an answer", "收到响应之前"),
        .inHead: ("in the middle of the head", "响应头中途"),
        .beforeBodyEnd: ("before the end of the body", "正文结束之前"),
    ]

    /// A TLS handshake or session.
    static let tls: Rows = [
        .tlsCutOff: ("{0}: TLS was cut off {1}", "{0}：TLS 连接在{1}被切断"),
        .cutShort: ("{0}, and the bytes do not match the digest", "{0}，已接收的内容与校验和不符"),
        .tlsBrokeOff: ("{0}: TLS broke off {1}", "{0}：TLS 连接在{1}中断"),
        .handshakeBrokeOff: ("{0}: the TLS handshake broke off", "{0}：TLS 握手中断"),
        .uncheckable: ("{0}: the certificate cannot be checked", "{0}：无法检查证书"),
        .unreadableTrust: ("{0}: the file of trusted certificates cannot be read", "{0}：无法读取受信任证书的文件"),
        .otherName: ("{0}: the certificate is for another name", "{0}：证书属于其他名称"),
        .unaskableName: ("{0}: the name cannot be used in TLS", "{0}：该名称不能用于 TLS"),
        .untrusted: (
            "{0}: the certificate is not trusted: its authority is unknown, or it is out of date",
            "{0}：证书不受信任：颁发机构未知，或证书已过期"
        ),
        .certificateExpired: ("{0}: the certificate expired on {1}", "{0}：证书已于 {1} 过期"),
        .certificateNotYetValid: ("{0}: the certificate is not valid before {1}", "{0}：证书从 {1} 起才有效"),
        .unknownAuthority: (
            "{0}: the certificate is from an authority that is not trusted here", "{0}：证书的颁发机构在本机不受信任"
        ),
        .selfSigned: (
            "{0}: the certificate is self-signed, not issued by an authority", "{0}：证书由其自身签名，不是由颁发机构签发"
        ),
        .wantsCertificate: ("{0}: the server requires a client certificate", "{0}：服务器要求客户端证书"),
        .unacceptable: ("{0}: the certificate is not acceptable", "{0}：证书无法接受"),
        .expired: ("{0}: the certificate has expired", "{0}：证书已过期"),
        .oldTLS: ("{0}: the server speaks only TLS that is too old", "{0}：服务器只支持过旧的 TLS"),
        .noTLS: ("{0}: the server does not speak TLS there", "{0}：服务器在此端口不支持 TLS"),
        .noCipher: ("{0}: no common TLS cipher", "{0}：没有共同的 TLS 加密套件"),
        .noTLSSettings: ("{0}: no common TLS settings", "{0}：没有共同的 TLS 设置"),
        .unknownName: ("{0}: the server does not know this name", "{0}：服务器不认识此名称"),
        .otherProtocol: ("{0}: the server does not speak HTTP/1.1 there", "{0}：服务器在此端口不支持 HTTP/1.1"),
    ]

    /// A text that is not a valid URL. `urlProblem` combines the text with one of the other sentences.
    static let urls: Rows = [
        .urlProblem: ("{0} {1}", "网址 {0} 无法使用：{1}"),
        .urlEmpty: ("is empty, where a URL was expected", "它是空的，这里应为网址"),
        .urlScheme: (
            "has the scheme \"{0}\", but only http, https and s3 can be downloaded", "协议是 \"{0}\"，而只能下载 http、https 和 s3"
        ),
        .urlHostAfter: ("has no host: a URL begins with {0}://host", "没有主机：网址应以 {0}://host 开头"),
        .urlNoScheme: ("is not a URL: it begins with neither http:// nor https://", "这不是网址：它不以 http:// 或 https:// 开头"),
        .urlSchemeMeant: ("has no scheme; did you mean https://{0}?", "没有协议；是否想写 https://{0}？"),
        .urlLongEncoded: ("is longer than a URL may be, once it is encoded", "编码后超过网址允许的长度"),
        .urlLong: ("is longer than a URL may be: {0} bytes", "超过网址允许的长度 {0} 字节"),
        .urlControl: ("has a control character in it, such as a line break", "其中有控制字符，例如换行"),
        .urlBackslash: ("has a backslash before its path", "路径之前有反斜杠"),
        .urlNoHost: ("has no host", "没有主机"),
        .urlUserText: ("has a user name or password that is not UTF-8", "用户名或密码不是 UTF-8"),
        .urlUserControl: ("has a user name or password with a control character in it", "用户名或密码中有控制字符"),
        .urlColons: (
            "has a host with several colons: an IPv6 address needs brackets around it", "主机中有多个冒号：IPv6 地址需要放在方括号中"
        ),
        .urlOpenBracket: ("has an IPv6 address without its closing bracket", "IPv6 地址缺少右方括号"),
        .urlAfterBracket: ("has something between its IPv6 address and its port", "IPv6 地址与端口之间有其他内容"),
        .urlPortText: ("has a port that is not a number", "端口不是数字"),
        .urlPortRange: ("has a port outside 1 to 65535", "端口不在 1 到 65535 之间"),
        .urlZone: ("has an IPv6 address with a zone, which cannot be used here", "IPv6 地址带有区域，在这里不能使用"),
        .urlBrackets: ("has brackets around something that is no IPv6 address", "方括号中的内容不是 IPv6 地址"),
        .urlHostText: ("has a host that is not UTF-8", "主机不是 UTF-8"),
        .urlFourNumbers: ("has an IPv4 address that is not four numbers from 0 to 255", "IPv4 地址不是四个 0 到 255 的数字"),
        .urlLongHost: ("has a host name that is too long", "主机名太长"),
        .urlEmptyLabel: ("has a host name with nothing before or between its dots", "主机名的点之前或之间没有内容"),
        .urlBucket: ("has a bucket name that no bucket can have", "存储桶名称不合法"),
        .urlObjectQuery: (
            "has a query; of an object only ?versionId=… can be given, and a ? in its key is written %3F",
            "带有查询部分；对象只能用 ?versionId=…，键中的 ? 写作 %3F"
        ),
        .urlObjectPath: ("has a . or .. between the slashes of its key", "键的斜杠之间有 . 或 .."),
        .urlHostCharacter: ("has a host name with a character that no host name can have", "主机名中有不允许的字符"),
    ]
}
