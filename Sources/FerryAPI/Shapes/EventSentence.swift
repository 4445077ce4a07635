package import FerryCore

/// What happened, in a sentence for people; URLs in it are without query.
package enum EventSentence {
    package static func text(_ event: DownloadEvent, in language: Language) -> String {
        let (english, chinese) = texts(event)
        return language == .simplifiedChinese ? chinese : english
    }

    private static func texts(_ event: DownloadEvent) -> (english: String, chinese: String) {
        // A reason counts only while the English text is still the one that it gave.
        func translated(_ text: String) -> String? {
            guard let reason = event.reason, reason.description == text else { return nil }
            return reason.text(in: .simplifiedChinese)
        }
        func chinese(_ text: String) -> String { translated(text) ?? text }
        return switch event.kind {
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
                "从 \(ByteText.progress(completed: offset, total: total)) 处继续：\(chinese(reason))"
            )
        case .retrying(let attempt, let delay, let reason):
            (
                "Trying again in \(ByteText.duration(delay)), attempt \(attempt): \(reason)",
                "\(ByteText.duration(delay)) 后进行第 \(attempt) 次重试：\(chinese(reason))"
            )
        case .restarted(let reason): ("Beginning again from zero: \(reason)", "从头重新下载：\(chinese(reason))")
        case .waiting(let wait, let message):
            (
                message.isEmpty ? DownloadState.waiting(wait).text(in: .english) : "Waiting: \(message)",
                DownloadState.waiting(wait).text(in: .simplifiedChinese) + (translated(message).map { "：\($0)" } ?? "")
            )
        case .note(let text): (text, chinese(text))
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
