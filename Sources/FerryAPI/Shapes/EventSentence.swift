package import FerryCore

/// The event as a sentence for users; URLs in it are without query.
package enum EventSentence {
    package static func text(_ event: DownloadEvent, in language: Language) -> String {
        let reason = event.reason(in: language) ?? ""
        let texts: Language.Texts
        switch event.kind {
        case .added(let url):
            texts = url.isEmpty ? ("Added", "已添加") : ("Added: \(url)", "已添加：\(url)")
        case .started(let name, let total?):
            texts = ("Started: \(name), \(ByteText.size(total))", "已开始：\(name)，\(ByteText.size(total))")
        case .started(let name, nil):
            texts = ("Started: \(name), size unknown", "已开始：\(name)，大小未知")
        case .resumed(let offset, let total, _):
            let progress = ByteText.progress(completed: offset, total: total)
            texts = ("Resumed at \(progress): \(reason)", "从 \(progress) 处继续：\(reason)")
        case .retrying(let attempt, let delay, _):
            let time = ByteText.duration(delay)
            texts = ("Trying again in \(time), attempt \(attempt): \(reason)", "\(time) 后进行第 \(attempt) 次重试：\(reason)")
        case .restarted:
            texts = ("Beginning again from zero: \(reason)", "从头重新下载：\(reason)")
        case .waiting(let wait, let message):
            // Without a translation the message is left out in Chinese.
            let state = DownloadState.waiting(wait).text(in: language)
            texts = (
                message.isEmpty ? state : "Waiting: \(reason)", event.reason == nil ? state : "\(state)：\(reason)"
            )
        case .note: return reason
        case .paused: return DownloadState.paused.text(in: language)
        case .completed(let file):
            let (size, proof) = (ByteText.size(file.totalBytes), file.proof.rawValue)
            texts = ("Completed: \(size), proof \(proof)", "下载完成：\(size)，校验依据 \(proof)")
        case .failed: texts = ("Failed: \(reason)", "下载失败：\(reason)")
        case .cancelled: return DownloadState.cancelled.text(in: language)
        }
        return language.text(of: texts)
    }
}
