extension DownloadError.Code {
    /// The codes that this version produces. Newer versions may add others.
    package static let known: [DownloadError.Code] = [
        .invalidRequest, .network, .refused, .freshLink, .credentials, .remoteChanged, .checksum, .unproven, .disk,
        .diskFull, .conflict, .duplicate, .catalogue, .notResumable, .notFound, .wrongState, .certificate, .tooLarge,
        .cancelled, .shutDown, .daemonUnavailable, .internal,
    ]

    /// Returns a general sentence for this code in `language`; for an unknown code, that something failed.
    package func sentence(in language: Language) -> String {
        language.text(of: Self.sentences[self] ?? ("something failed", "出错了"))
    }

    static let sentences: [DownloadError.Code: Language.Texts] = [
        .invalidRequest: ("the request is invalid", "请求无效"),
        .network: ("the network failed", "网络出错"),
        .refused: ("the server's answer cannot be used", "服务器拒绝请求或响应无法使用"),
        .freshLink: ("the link no longer works", "链接已失效，需要新链接"),
        .credentials: ("the server asks for credentials", "服务器要求提供凭据"),
        .remoteChanged: ("the file on the server changed", "服务器上的文件已改变"),
        .checksum: ("the file does not match its digest", "文件校验失败"),
        .unproven: ("the required integrity check is not available", "无法取得所要求的证明"),
        .disk: ("the disk failed", "磁盘读写出错"),
        .diskFull: ("there is not enough space", "磁盘空间不足"),
        .conflict: ("the file name is already in use", "名称或下载已被占用"),
        .duplicate: ("the same download is listed already", "相同的下载已在列表中"),
        .catalogue: ("the catalogue cannot be used", "下载目录库无法使用"),
        .notResumable: ("the download cannot be resumed", "无法续传"),
        .notFound: ("there is no such download", "没有这个下载"),
        .wrongState: ("that cannot be done in this state", "当前状态下不能这样做"),
        .certificate: ("the server's certificate is not trusted", "无法验证服务器的证书"),
        .tooLarge: ("the file is larger than allowed", "文件超过允许的大小"),
        .cancelled: ("the download was cancelled", "已取消"),
        .shutDown: ("Ferry was shut down", "Ferry 已关闭"),
        .daemonUnavailable: ("the daemon cannot be reached", "无法连接后台服务"),
        .internal: ("an internal error in Ferry", "Ferry 内部错误"),
    ]
}
