import Ferry
package import FerryAPI
import FerryCore

/// Formats the details of a download: one fact per line, followed by its events.
package enum DownloadFacts {
    package static func lines(_ detail: DownloadDetail, events: [EventBody]) -> [String] {
        let download = detail.download
        let progress = download.status.progress
        var facts: [(name: String, value: String?)] = [
            ("id", download.id.rawValue),
            ("name", download.status.name),
            ("state", state(download, detail.queue)),
            ("done", ByteText.progress(completed: progress.completedBytes, total: progress.totalBytes)),
        ]
        if download.status.state == .downloading {
            facts += [
                ("speed", ByteText.rate(progress.bytesPerSecond)),
                ("time left", ByteText.duration(progress.timeRemaining)),
                ("connections", ("\(progress.connections) of up to \(download.maxConnections)" as Reason).local),
                ("limited", progress.bottleneck.map { BottleneckText.sentence($0).local }),
            ]
        }
        facts += [
            ("file", download.status.path ?? download.directory),
            ("url", redacted(download.url)),
        ]
        facts += detail.sources.dropFirst().map { ("mirror", redacted($0)) }
        facts += [
            ("answered by", detail.response.finalURL),
            ("type", detail.response.type),
            ("validator", download.validator),
            ("checksum", download.checksum?.description),
            ("proxy", detail.proxy),
            (
                "trust",
                detail.insecure == true
                    ? ("any certificate" as Reason).local
                    : detail.hasCertificates == true ? ("certificates of its own" as Reason).local : nil
            ),
            ("unproven", detail.resumesUnproven == true ? ("resumed by comparing samples" as Reason).local : nil),
            ("headers", detail.headers.isEmpty ? nil : detail.headers.joined(separator: ", ")),
            ("limit", download.rateLimit.map { ByteText.size($0) + "/s" }),
            ("max size", detail.maxBytes.map { ByteText.size($0) }),
            ("retries", detail.maxRetries.map { $0 == DownloadRequest.mostRetries ? "inf" : "\($0)" }),
            ("not before", start(download)),
            ("priority", download.priority == .normal ? nil : priority(download.priority)),
            (
                "metered",
                download.network.allowsMetered.map { Reason.pattern($0 ? "allowed" : "not allowed", []).local }
            ),
            ("label", download.label),
            ("session", download.session == FerryAPI.defaultSession ? nil : download.session),
            ("added", LocalTime.text(download.addedAt)),
            ("ended", download.endedAt.map { LocalTime.text($0) }),
        ]
        var lines = facts.compactMap { fact in
            fact.value.map {
                DisplayWidth.pad(Reason.pattern(fact.name, []).local + ":", to: 13) + PrintableText.escape($0)
            }
        }
        if !events.isEmpty { lines.append("") }
        lines += folded(events).map { event, count in
            let text = EventSentence.text(event, in: .current)
            let line: Reason = count > 1 ? "\(text) (\(count) times)" : .words(text)
            return LocalTime.text(event.date) + "  " + line.shown
        }
        return lines
    }

    /// Returns the events. Consecutive events of the same meaning are replaced by the last of them and their number.
    private static func folded(_ events: [EventBody]) -> [(event: DownloadEvent, count: Int)] {
        var folded: [(event: DownloadEvent, count: Int)] = []
        for event in events.map(\.event) {
            if let last = folded.last, saysTheSame(last.event, event) {
                folded[folded.count - 1] = (event, last.count + 1)
            } else {
                folded.append((event, 1))
            }
        }
        return folded
    }

    /// Whether two events are attempts or notes whose sentences differ only in their arguments.
    private static func saysTheSame(_ one: DownloadEvent, _ other: DownloadEvent) -> Bool {
        switch (one.kind, other.kind) {
        case (.retrying, .retrying), (.note, .note): break
        default: return false
        }
        guard case .phrase(let first)? = one.reason, case .phrase(let second)? = other.reason else { return false }
        return first.key == second.key
    }

    /// Returns a URL without its query, which may be a secret; `--json` prints the whole URL.
    private static func redacted(_ url: String) -> String { (try? DownloadURL(url))?.redacted ?? url }

    private static func state(_ download: ListedDownload, _ queue: DownloadDetail.Queue?) -> String {
        let state = DownloadTable.state(download)
        let text: Reason =
            switch download.status.state {
            case .failed(let error): "failed: \(DownloadTable.failure(error, of: download, isBrief: false))"
            case .completed(let proof): "completed, proof: \(proof.text(in: .current))"
            case .paused: download.status.pauseReason.map { "paused: \($0.phrase)" } ?? .words(state)
            case .waiting:
                (queue.map { place($0).local } ?? DownloadTable.reason(download))
                    .map { .words(state + ErrorText.separator + $0) } ?? .words(state)
            default: .words(state)
            }
        return text.local
    }

    /// Returns the earliest start; `nil` if there is none, or if the state names it.
    private static func start(_ download: ListedDownload) -> String? {
        if case .waiting(.notBefore) = download.status.state { return nil }
        return download.notBefore.map { LocalTime.text($0) }
    }

    /// Returns the position in the queue of a download that waits for a slot.
    private static func place(_ queue: DownloadDetail.Queue) -> Reason {
        let before: Reason = queue.before == 0 ? "it is next" : "\(queue.before) before it"
        if queue.running < queue.limit { return before }
        return queue.running == 1
            ? "1 download is running, the maximum; \(before)"
            : "\(queue.running) downloads are running, the maximum; \(before)"
    }

    static func priority(_ priority: DownloadPriority) -> String {
        switch priority {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        default: "\(priority.rawValue)"
        }
    }
}

/// The details of a download as one line of JSON: the API's object with an additional `events` member.
package struct ShownDownload: Encodable, Sendable {
    package var detail: DownloadDetail
    package var events: [EventBody]

    package init(_ detail: DownloadDetail, events: [EventBody]) {
        self.detail = detail
        self.events = events
    }

    private enum CodingKeys: String, CodingKey { case events }

    package func encode(to encoder: any Encoder) throws {
        try detail.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(events, forKey: .events)
    }
}
