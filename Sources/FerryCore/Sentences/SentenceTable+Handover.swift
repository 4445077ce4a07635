extension SentenceTable {
    /// Downloads of a suspended app.
    static let handover: Rows = [
        .isSuspended: ("this download manager is suspended", "此下载管理器已暂停运行"),
        .activateFirst: ("activate the manager first", "请先激活下载管理器"),
        .staysWithApp: (
            "goes on only while the app runs, because {0}", "仅在应用运行时继续下载：{0}"
        ),
        .demandsRateLimit: ("its rate is limited", "设置了限速"),
        .demandsHostBudget: ("its host has a budget", "其主机设有请求上限"),
        .demandsProxy: ("it uses a proxy of its own", "使用自己的代理"),
        .demandsCertificates: ("it uses certificates of its own", "使用自己的证书"),
        .demandsInsecure: ("certificates are not verified", "不验证证书"),
        .demandsAddressFamily: ("it uses one IP version only", "仅使用一种 IP 版本"),
        .demandsMirrors: ("it has several sources", "有多个来源"),
        .demandsUnencrypted: ("its URL is not encrypted", "其网址未加密"),
        .demandsPublicAddresses: ("private addresses are refused", "不允许私有地址"),
        .demandsMaxBytes: ("it has a maximum size, and its size is unknown", "设置了大小上限，而大小未知"),
        .demandsObject: ("each of its requests is signed", "其每个请求都需签名"),
        .demandsCredentials: ("it needs a user name and password", "需要用户名和密码"),
        .demandsCookies: ("it needs cookies", "需要 Cookie"),
        .demandsSecrets: (
            "a redirect could carry its secret headers to another server", "重定向可能将其机密请求头带到其他服务器"
        ),
        .demandsValidator: (
            "nothing proves that the server still has the same file", "无法证明服务器上的文件未变"
        ),
        .demandsSpace: (
            "there is no room for what the system would fetch beside the file", "磁盘空间不足以另外存放系统下载的内容"
        ),
        .systemFailed: (
            "the system could not fetch a part while the app was suspended (error {0})",
            "应用挂起期间，系统未能下载某一部分（错误 {0}）"
        ),
        .systemFoundChange: (
            "the file on the server changed while the app was suspended", "应用挂起期间，服务器上的文件已改变"
        ),
        .systemBroughtOther: (
            "what the system fetched while the app was suspended could not be used", "应用挂起期间系统下载的内容无法使用"
        ),
    ]
}
