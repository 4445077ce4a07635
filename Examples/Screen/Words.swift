import Ferry

/// The texts of the page. In an app, these are in its string catalog.
enum Words {
    private static func of(_ english: String, _ chinese: String) -> String {
        Language.current == .english ? english : chinese
    }
    static let address = of("Address", "网址")
    static let idle = of("Not started", "等待开始")
    static let start = of("Start", "开始")
    static let pause = of("Pause", "暂停")
    static let resume = of("Resume", "继续")
    static let cancel = of("Cancel", "取消")
    static let ok = of("OK", "好")
    static let completed = of("Download complete", "下载完成")
    static let failed = of("Download failed", "下载失败")
}
