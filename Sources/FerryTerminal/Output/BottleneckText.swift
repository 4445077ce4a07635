import Ferry
package import FerryCore

/// Formats the bottleneck of a download as one sentence with the numbers that show it.
package enum BottleneckText {
    package static func sentence(_ limit: Bottleneck) -> Reason {
        let rate = limit.bytesPerSecond.map { ByteText.rate($0) } ?? ByteText.unknown
        let count = limit.connections.map { "\($0)" } ?? ByteText.unknown
        let window = limit.windowBytes.map { ByteText.size($0) } ?? ByteText.unknown
        let time = time(limit.seconds)
        return switch limit.cause {
        case .rateLimit: "your limit of \(rate)"
        case .otherDownloads: "it is waiting: other downloads use all \(count) connections to this server"
        case .comparison: "it compares samples of what is here with the server's bytes before it goes on"
        case .repetition:
            "the server sends no ranges and repeats what is here, so far \(ByteText.percent(limit.share, isComplete: false))"
        case .disk: "the disk writes \(rate)"
        case .processor: "this machine's processor is busy, Ferry uses \(cores(limit.share)) of a core"
        case .latency: "the server answers slowly, the first byte comes after \(time)"
        case .refusals: "the server refuses more connections than \(count), which deliver \(rate)"
        case .perConnection: "the server gives \(rate) to each connection; connections: \(count)"
        case .line: "this line is saturated at \(rate)"
        case .path: "the line or the server delivers no more than \(rate); connections: \(count)"
        case .loss: "about \(lost(limit.share)) of the packets are lost; \(rate), connections: \(count)"
        case .sendWindow:
            "the server sends \(window) to each connection in a round trip of \(time); connections: \(count)"
        case .receiveWindow:
            "this machine accepts \(window) on each connection in a round trip of \(time); connections: \(count)"
        }
    }

    /// `80 ms`, `1.5 s`.
    private static func time(_ seconds: Double?) -> String {
        guard let seconds, seconds >= 0, seconds < 1e6 else { return ByteText.unknown }
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        return "\((seconds * 10).rounded() / 10) s"
    }

    private static func cores(_ share: Double?) -> String {
        guard let share, share >= 0, share < 1e4 else { return ByteText.unknown }
        return "\((share * 10).rounded() / 10)"
    }

    /// Formats a share of lost packets. Never shows 0, because some packets are lost.
    private static func lost(_ share: Double?) -> String {
        ByteText.percent(share.map { max(0.001, $0) }, isComplete: false)
    }
}
