extension DownloadState {
    /// Returns a description for display: `Downloading`, `Waiting for a network`.
    public func text(in language: Language) -> String { language.text(of: texts) }

    private var texts: Language.Texts {
        switch self {
        case .waiting(let reason): reason.texts
        case .downloading: ("Downloading", "正在下载")
        case .verifying: ("Verifying", "正在校验")
        case .paused: ("Paused", "已暂停")
        case .failed: ("Failed", "失败")
        case .completed: ("Completed", "已完成")
        case .cancelled: ("Cancelled", "已取消")
        }
    }
}

extension Proof {
    /// Returns the name for display; in English that of the case.
    package func text(in language: Language) -> String { language.text(of: (rawValue, chinese)) }

    private var chinese: String {
        switch self {
        case .digest: "校验和"
        case .single: "单次完整响应"
        case .strong: "强验证标识"
        case .sampled: "抽样比对"
        case .weak: "弱验证标识"
        case .none: "无"
        }
    }
}

extension WaitReason {
    fileprivate var texts: Language.Texts {
        switch self {
        case .slot: ("Waiting for its turn", "排队中")
        case .server: ("Waiting for its server", "等待服务器")
        case .network: ("Waiting for a network", "等待网络")
        case .retry: ("Waiting for the next attempt", "等待重试")
        case .diskSpace: ("Waiting for disk space", "等待磁盘空间")
        case .freshLink: ("Waiting for a new link", "等待新链接")
        case .credentials: ("Waiting for credentials", "等待登录凭据")
        case .notBefore: ("Waiting for its time", "等待预定时间")
        }
    }
}
