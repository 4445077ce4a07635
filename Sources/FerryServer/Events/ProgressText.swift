import FerryAPI
import FerryCore

/// The `progress` event, encoded without `JSONEncoder` because it is sent ten times a second for all running downloads.
enum ProgressText {
    /// Returns one event with these downloads, as sent.
    static func lines(_ batch: some Sequence<DownloadStatus>) -> [UInt8] {
        var text = "event: progress\ndata: {\"downloads\":["
        var isFirst = true
        for status in batch {
            if !isFirst { text += "," }
            isFirst = false
            append(status, to: &text)
        }
        text += "]}\n\n"
        return Array(text.utf8)
    }

    private static func append(_ status: DownloadStatus, to text: inout String) {
        let progress = status.progress
        text += "{\"id\":"
        text += quoted(status.id.rawValue)
        text += ",\"completedBytes\":"
        text += String(progress.completedBytes)
        text += ",\"totalBytes\":"
        text += progress.totalBytes.map { String($0) } ?? "null"
        text += ",\"bytesPerSecond\":"
        let speed = progress.bytesPerSecond
        text += String(speed.isFinite && speed > 0 && speed < 9e18 ? Int64(speed.rounded()) : 0)
        text += ",\"timeRemaining\":"
        text += progress.timeRemaining.map { String(APISeconds.number($0)) } ?? "null"
        text += ",\"connections\":"
        text += String(progress.connections)
        text += "}"
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 < 0x7F
        }
        if isPlain { return "\"" + text + "\"" }
        return (try? APICoding.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
