package import FerryCore

/// A download's event in the API: the members of ``FerryCore/DownloadEvent``, its session, and its text in every language.
package struct EventBody: Sendable, Hashable {
    package var event: DownloadEvent
    package var session: String

    package init(_ event: DownloadEvent, session: String) {
        self.event = event
        self.session = session
    }
}

extension EventBody: Codable {
    private enum CodingKeys: String, CodingKey { case session, texts }

    package init(from decoder: any Decoder) throws {
        event = try DownloadEvent(from: decoder)
        session = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .session)
    }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(session, forKey: .session)
        try container.encode(Translations { EventSentence.text(event, in: $0) }, forKey: .texts)
    }
}

/// The history of one download, oldest first.
package struct EventItems: Codable, Sendable, Hashable {
    package var items: [EventBody]
    package init(_ items: [EventBody]) { self.items = items }
}

/// The event as a sentence for users. URLs in the sentence contain no query.
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
            let time = ByteText.briefly(delay)
            texts = (
                "Trying again in \(time), retry \(attempt): \(reason)",
                "\(chinese(time))后进行第 \(attempt) 次重试：\(reason)"
            )
        case .restarted:
            texts = ("Starting over: \(reason)", "从头重新下载：\(reason)")
        case .waiting(let wait, let message):
            // In Chinese, a message without a translation is omitted.
            let state = DownloadState.waiting(wait).text(in: language)
            texts = (
                message.isEmpty ? state : "Waiting: \(reason)", event.reason == nil ? state : "\(state)：\(reason)"
            )
        case .note: return capitalized(reason, of: event)
        case .paused: return DownloadState.paused.text(in: language)
        case .completed(let file):
            let size = ByteText.size(file.totalBytes)
            let proof = file.proof.text(in: language)
            texts = ("Completed: \(size), proof: \(proof)", "下载完成：\(size)，校验依据：\(proof)")
        case .failed: texts = ("Failed: \(reason)", "下载失败：\(reason)")
        case .cancelled: return DownloadState.cancelled.text(in: language)
        }
        return language.text(of: texts)
    }

    /// The reason with a capital first letter, unless it begins with a name, path or URL.
    private static func capitalized(_ text: String, of event: DownloadEvent) -> String {
        guard case .phrase(let phrase)? = event.reason, phrase.beginsWithWord, let first = text.first else {
            return text
        }
        return first.uppercased() + text.dropFirst()
    }

    /// A time that `ByteText` has formatted, such as `1m 05s`, in Chinese.
    private static func chinese(_ time: String) -> String {
        time.map { character in
            switch character {
            case "d": " 天"
            case "h": " 小时"
            case "m": " 分"
            case "s": " 秒"
            default: String(character)
            }
        }.joined()
    }
}
