package import FerryCore

/// What happened, in a sentence for people; URLs in it are without query.
package enum EventSentence {
    package static func text(_ kind: DownloadEvent.Kind, in language: Language) -> String {
        let (english, chinese) = texts(kind)
        return language == .simplifiedChinese ? chinese : english
    }

    private static func texts(_ kind: DownloadEvent.Kind) -> (english: String, chinese: String) {
        switch kind {
        case .added(let url):
            url.isEmpty ? ("Added", "已添加") : ("Added: \(url)", "已添加：\(url)")
        case .started(let name, let total):
            (
                "Started: \(name), \(total.map(ByteText.size) ?? "size unknown")",
                "已开始：\(name)，\(total.map(ByteText.size) ?? "大小未知")"
            )
        case .resumed(let offset, let total, let reason):
            (
                "Resumed at \(ByteText.progress(completed: offset, total: total)): \(reason)",
                "从 \(ByteText.progress(completed: offset, total: total)) 处继续：\(reason)"
            )
        case .retrying(let attempt, let delay, let reason):
            (
                "Trying again in \(ByteText.duration(delay)), attempt \(attempt): \(reason)",
                "\(ByteText.duration(delay)) 后进行第 \(attempt) 次重试：\(reason)"
            )
        case .restarted(let reason): ("Beginning again from zero: \(reason)", "从头重新下载：\(reason)")
        case .waiting(let wait, let message):
            (
                message.isEmpty ? DownloadState.waiting(wait).text(in: .english) : "Waiting: \(message)",
                DownloadState.waiting(wait).text(in: .simplifiedChinese)
            )
        case .note(let text): (text, text)
        case .paused: ("Paused", "已暂停")
        case .completed(let file):
            (
                "Completed: \(ByteText.size(file.totalBytes)), proof \(file.proof.rawValue)",
                "下载完成：\(ByteText.size(file.totalBytes))，校验依据 \(file.proof.rawValue)"
            )
        case .failed(let error):
            ("Failed: \(error.message(in: .english))", "下载失败：\(error.message(in: .simplifiedChinese))")
        case .cancelled: ("Cancelled", "已取消")
        }
    }
}
